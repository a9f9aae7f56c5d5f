package telegramtest

type verifier struct{}

func newVerifier(string) *verifier { return nil }
