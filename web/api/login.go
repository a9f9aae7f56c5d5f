package api

import (
	"context"
	"net/http"
	"time"

	"belfry/store"
	"belfry/worker/identities"
)

// loginAPI registers the operations that log user accounts in and out.
func (s identityDoor) loginAPI(a *api) {
	operation(a, http.MethodPost, "/identities/{id}/login", "Log a user account or an account of X in, step by step", s.logIn, longBodies, patient)
	operation(a, http.MethodPost, "/identities/{id}/log-out", "End the session of a user account, here and at the network", s.logOut, patient)
}

// loginStep is what a person has to enter or do next. Exactly one field is given; for an account of X none, which
// begins, or code and state.
type loginStep struct {
	Phone    *string `json:"phone,omitempty" doc:"Begins: the network sends a code" example:"+79991234567"`
	Code     *string `json:"code,omitempty" doc:"The code that it sent"`
	Password *string `json:"password,omitempty" doc:"The account's two-step password"`
	State    *string `json:"state,omitempty" doc:"X: what it gave beside the code"`
	QR       *bool   `json:"qr,omitempty" doc:"true begins a login with a QR code, and asks again what came of it"`
	Session  *string `json:"session,omitempty" doc:"A Telethon StringSession, or its .session file in base64, in the place of its own"`
}

// LoginState is where a login stands.
type LoginState struct {
	State   string    `json:"state" doc:"code, password or qr: what it waits for; link: the owner lets Belfry in at url; done: logged in, or connecting with the session that was given" enum:"code,password,qr,link,done"`
	Via     string    `json:"via,omitempty" doc:"Where the code was sent: app, sms, call, email and others"`
	Hint    string    `json:"hint,omitempty" doc:"The account's hint for its password"`
	URL     string    `json:"url,omitempty" doc:"What the QR code says, or where the owner lets Belfry in"`
	Expires time.Time `json:"expires,omitzero" doc:"When the QR code is replaced"`
	Title   string    `json:"title,omitempty" doc:"The account's name"`
}

type loginRequest struct {
	ID   uint64 `path:"id" doc:"The identity's id"`
	Body loginStep
}

func (s identityDoor) logIn(ctx context.Context, in *loginRequest) (*reply[LoginState], error) {
	b := in.Body
	given := 0
	for _, is := range []bool{b.Phone != nil, b.Code != nil, b.Password != nil, b.QR != nil && *b.QR, b.Session != nil} {
		if is {
			given++
		}
	}
	var step identities.Step
	var err error
	switch {
	case given == 0:
		step, err = s.logins.BeginLogin(ctx, in.ID)
	case b.Code != nil && b.State != nil:
		step, err = s.logins.FinishLogin(ctx, in.ID, *b.Code, *b.State)
	case given != 1:
		return nil, store.Invalid("body", "invalid.one_step")
	case b.Phone != nil:
		step, err = s.logins.SendCode(ctx, in.ID, *b.Phone)
	case b.Code != nil:
		step, err = s.logins.EnterCode(ctx, in.ID, *b.Code)
	case b.Password != nil:
		step, err = s.logins.EnterPassword(ctx, in.ID, *b.Password)
	case b.Session != nil:
		step.State, err = identities.StepDone, s.logins.TakeOver(in.ID, []byte(*b.Session))
	default:
		step, err = s.logins.ShowQR(ctx, in.ID)
	}
	if err != nil {
		return nil, err
	}
	return answer(LoginState{
		State: string(step.State), Via: step.Via, Hint: step.Hint, URL: step.URL, Expires: step.Expires, Title: step.Title,
	}), nil
}

// readSession reads the session of a login that is added; without one it is logged in later.
func (s identityDoor) readSession(text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	return s.logins.Session([]byte(text))
}

func (s identityDoor) logOut(ctx context.Context, in *one) (*reply[Identity], error) {
	if err := s.logins.LogOut(ctx, in.ID); err != nil {
		return nil, err
	}
	return record(s.db.View, func(tx *store.Tx) (store.Identity, error) { return tx.Identities.Get(in.ID) }, plain(s.shownIdentity))
}
