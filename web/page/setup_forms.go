package page

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/identities"
	"belfry/worker/posts"
	"belfry/worker/setup"
)

// saveApplication stores the application if Telegram accepts it.
func (s setupPages) saveApplication(c echo.Context, f form) (string, error) {
	return "", s.logins.SetApplication(c.Request().Context(), f.get("telegram_api_id"), f.get("telegram_api_hash"))
}

// addBot adds the bot that posts, or gives it another token.
func (s setupPages) addBot(c echo.Context, f form) (string, error) {
	_, err := s.setBot(c, identities.Main, f)
	return setupPath + "/" + stepLogin, err
}

// setBot makes the bot of that name one with the form's token.
func (s setupPages) setBot(c echo.Context, name string, f form) (i store.Identity, err error) {
	if _, err := s.logins.Prepare(c.Request().Context(), identities.Request{Platform: "telegram"}); err != nil {
		return i, err
	}
	err = s.DB.Update(func(tx *store.Tx) (err error) {
		i, err = identities.Configure(tx, name, f.get("token"), "")
		return err
	})
	return i, err
}

// addAccount adds a user account, which is then logged in.
func (s setupPages) addAccount(c echo.Context, _ form) (then string, err error) {
	request, err := s.logins.Prepare(c.Request().Context(), identities.Request{Platform: "telegram", Kind: string(store.IdentityUser)})
	if err != nil {
		return "", err
	}
	err = s.DB.Update(func(tx *store.Tx) error {
		i, err := identities.Add(tx, request)
		then = loginPath(i.ID) + "/login"
		return err
	})
	return then, err
}

// saveChannel makes a channel the one that the login posts to, if it may post there.
func (s setupPages) saveChannel(c echo.Context, f form) (string, error) {
	st, err := s.read(s.view(c))
	if err != nil {
		return "", err
	}
	target := f.get("target")
	if err := s.posts.Reach(c.Request().Context(), st.poster, target); err != nil {
		return "", err
	}
	return "", s.DB.Update(func(tx *store.Tx) error {
		return failure(identities.Change(tx, st.poster.ID, identities.Patch{Target: &target}))
	})
}

// testPost publishes a post at once.
func (s setupPages) testPost(c echo.Context, f form) (string, error) {
	st, err := s.read(s.view(c))
	if err != nil {
		return "", err
	}
	draft, err := s.posts.Prepare(c.Request().Context(), posts.Request{
		Platform: "telegram", IdentityID: st.poster.ID, Text: f.get("text"),
		ScheduledTime: s.DB.Now().Format(time.RFC3339), AllowPast: true,
	})
	var post store.Post
	if err == nil {
		err = s.DB.Update(func(tx *store.Tx) (err error) {
			post, err = s.posts.Schedule(tx, draft)
			return err
		})
	}
	return setupPath + "/" + stepPost + "?post=" + id(post.ID), err
}

// chooseBot has a bot tell the admins: one that is there, or a new one.
func (s setupPages) chooseBot(c echo.Context, f form) (string, error) {
	login, err := strconv.ParseUint(f.get("admin_bot"), 10, 64)
	if err != nil { // "another one"
		i, err := s.setBot(c, identities.Notify, f)
		if err != nil {
			return "", err
		}
		login = i.ID
	}
	return "", s.told.ChooseBot(login)
}

func (s setupPages) removeAdmin(_ echo.Context, f form) (string, error) {
	return "", s.DB.Update(func(tx *store.Tx) error { return s.told.RemoveAdmin(tx, f.get("chat")) })
}

func (s setupPages) saveLocale(_ echo.Context, f form) (string, error) {
	return "", s.worker.SetLocale(setup.Locale{Timezone: f.get("timezone"), Lang: f.get("lang")})
}

func (s setupPages) skip(c echo.Context, f form) (string, error) {
	step, _ := strings.CutPrefix(LocalPath(f.get("back")), setupPath+"/")
	if !slices.Contains([]string{stepApplication, stepLogin, stepChannel, stepPost, stepAdmin, stepLocale}, step) {
		return "", echo.ErrBadRequest
	}
	return "", s.DB.Update(func(tx *store.Tx) error { return setup.Skip(tx, step) })
}
