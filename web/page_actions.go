package web

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

// confirmPage asks before something that cannot be taken back.
type confirmPage struct {
	frame
	Question, Consequence, Wrong string
	Message                      *message
	Seen                         string // names what is shown of a post
	Action, Button, Class, Back  string
}

// postOf returns the post that the path names.
func (s *Server) postOf(c echo.Context) (post store.Post, err error) {
	number, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return post, echo.ErrNotFound
	}
	err = s.db.View(func(tx *store.Tx) (err error) {
		post, err = tx.Posts.Get(number)
		return err
	})
	return post, err
}
