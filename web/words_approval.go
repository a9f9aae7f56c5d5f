package web

import "fmt"

// approvalWords are those about posts that wait until somebody approves them.
type approvalWords struct {
	Hold, Stays              string // in the form
	Approve, Ask, AlsoByNow  string
	Late, TooLate            string
	InTime                   func(when string) string
	Waiting                  func(n int, more bool) string
	All, NothingElse, Nobody string
}

func englishApproval() approvalWords {
	return approvalWords{
		Hold: "Needs approval before publishing", Stays: "When it is saved, it still needs approval.",
		Approve: "Approve", Ask: "Approve this post?", AlsoByNow: "It is published now; this also approves it.",
		Late:    "Its time has passed; it is published as soon as it is approved.",
		TooLate: "Its time passed too long ago: if approved now, it is skipped. Publish it now or change its time.",
		InTime:  func(when string) string { return "It will be published at its time: " + when + "." },
		Waiting: func(n int, more bool) string {
			switch {
			case more:
				return fmt.Sprintf("More than %d posts need approval", n)
			case n == 1:
				return "1 post needs approval"
			}
			return counted(n, "post", "posts") + " need approval"
		},
		All: "See all", NothingElse: "All scheduled posts need approval", Nobody: "Approve a post to have it published.",
	}
}

func russianApproval() approvalWords {
	return approvalWords{
		Hold: "Публиковать только после одобрения", Stays: "После сохранения пост всё так же ждёт одобрения.",
		Approve: "Одобрить", Ask: "Одобрить этот пост?", AlsoByNow: "Пост выйдет сразу; это и будет одобрением.",
		Late:    "Его время прошло; когда одобрят, выйдет сразу.",
		TooLate: "Его время прошло слишком давно: если одобрить его сейчас, он будет пропущен. Опубликуйте его сейчас или измените время.",
		InTime:  func(when string) string { return "Пост выйдет в своё время: " + when + "." },
		Waiting: func(n int, more bool) string {
			if more {
				return fmt.Sprintf("Больше %d постов ждут одобрения", n)
			}
			return countedRU(n, "пост ждёт одобрения", "поста ждут одобрения", "постов ждут одобрения")
		},
		All: "Показать все", NothingElse: "Всё запланированное ждёт одобрения", Nobody: "Одобрите пост, чтобы он вышел.",
	}
}
