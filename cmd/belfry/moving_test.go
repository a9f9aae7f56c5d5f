package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry/store"
)

func TestRowsAreImportedAndExportedWhetherTheServiceRunsOrNot(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token, _ := m.bot("moving_bot", "city")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_CHAT=@city")
	rows := filepath.Join(m.dir, "scheduled_posts.csv")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(rows, "id,platform,scheduled_time,status,text\n1,telegram,2020-01-01 10:00:00,published,\"one,\ntwo\"\n2,vk,2020-01-01 10:00:00,published,three\n")
	p, _ := m.start()
	out, err := m.output("import", "--dry-run", rows)
	if exitCode(err) != exitFailed || !strings.Contains(out, "scheduled_posts.csv:4: platform \"vk\"") || !strings.Contains(out, "1 created, 0 changed, 0 unchanged, 1 rejected") {
		t.Errorf("a dry run: %v\n%s", err, out)
	}
	if out, err := m.output("posts", "list"); err != nil || strings.Contains(out, "published") {
		t.Errorf("a dry run has made something: %v\n%s", err, out)
	}
	out, err = m.output("import", rows)
	if exitCode(err) != exitFailed || !strings.Contains(out, "1 created, 0 changed, 0 unchanged, 1 rejected") {
		t.Errorf("while it runs: %v\n%s", err, out)
	}
	if out, err := m.output("posts", "show", "1"); err != nil || !strings.Contains(out, "published") || !strings.Contains(out, "one,\ntwo") {
		t.Errorf("posts show: %v\n%s", err, out)
	}
	p.stop()
	var report struct {
		Files []struct{ Unchanged, Rejected int }
	}
	out, err = m.output("import", "--json", rows)
	if exitCode(err) != exitFailed || json.Unmarshal([]byte(out), &report) != nil || len(report.Files) != 1 || report.Files[0].Unchanged != 1 || report.Files[0].Rejected != 1 {
		t.Errorf("while it does not run: %v\n%s", err, out)
	}
	exported := filepath.Join(m.dir, "all.jsonl")
	if out, err := m.output("export", exported); err != nil {
		t.Fatalf("export: %v\n%s", err, out)
	}
	if out, err := m.output("import", exported); err != nil || !strings.Contains(out, "0 created, 0 changed") {
		t.Errorf("what is there already: %v\n%s", err, out)
	}
	again, err := m.output("export")
	if was, err2 := os.ReadFile(exported); err != nil || err2 != nil || again != string(was) {
		t.Errorf("the second export is another one: %v, %v\n%s\n%s", err, err2, was, again)
	}
	write(filepath.Join(m.dir, "things.csv"), "id,username\n1,a\n")
	long := filepath.Join(m.dir, "long.jsonl") // the request says each < in six bytes
	write(long, `{"table":"contents","row":{"id":77,"text":"`+strings.Repeat("<", 3<<20)+"\"}}\n")
	if out, err := m.output("import", long); err != nil || !strings.Contains(out, "1 created") {
		t.Errorf("a long row: %v\n%s", err, out)
	}
	if _, err := m.output("import", filepath.Join(m.dir, "things.csv")); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("an unknown table: %v", err)
	}
	write(filepath.Join(m.dir, "c.csv"), "id,tg_channel_id,username\n1,5,news\n2,x,other\n")
	write(filepath.Join(m.dir, "p.csv"), "id,channel_id,telegram_message_id,content,posted_at\n1,1,7,Text,2026-11-01 10:00:00\n")
	m.account("reader", "9990000077") // who reads them
	for _, dry := range []string{"--dry-run", "--zone=UTC"} {
		out, err := m.output("channels", "import", "--posts", filepath.Join(m.dir, "p.csv"), "--channels", filepath.Join(m.dir, "c.csv"), dry)
		if exitCode(err) != exitFailed || !strings.Contains(out, "c.csv: 1 created, 0 changed, 0 unchanged, 1 rejected") ||
			!strings.Contains(out, "p.csv: 1 created") || !strings.Contains(out, "c.csv:3: tg_channel_id is not the id of a channel") {
			t.Errorf("channels import %s: %v\n%s", dry, err, out)
		}
	}
	m.env = append(m.env, "MIN_SECONDS_BETWEEN_CHATS=120", "MAX_SECONDS_BETWEEN_CHATS=240", "BELFRY_TIMEZONE=Europe/Moscow") // the owner's, as the service has them
	write(filepath.Join(m.dir, "userbot_tasks.csv"), "id,run_at,status,target_chat_ids,text\n1,"+time.Now().UTC().AddDate(0, 1, 0).Format(time.DateTime)+",pending,{-1001234567890},hello\n")
	if out, err := m.output("import", filepath.Join(m.dir, "userbot_tasks.csv")); err != nil {
		t.Errorf("import: %v\n%s", err, out)
	}
	if out, err := m.output("rules", "create", "--name", "morning", "--times", "09:00", "--template", "x"); err != nil {
		t.Errorf("rules create: %v\n%s", err, out)
	}
	m.inStore(func(tx *store.Tx) error {
		task, err1 := tx.Tasks.Get(1)
		rule, err2 := tx.Rules.Get(1)
		if task.MinPause != 2*time.Minute || task.MaxPause != 4*time.Minute || rule.Trigger.Zone != "Europe/Moscow" {
			t.Errorf("the settings do not hold: pauses %s to %s, times in %s", task.MinPause, task.MaxPause, rule.Trigger.Zone)
		}
		return errors.Join(err1, err2)
	})
	m.mustCheck()
}
