package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// environment is the annotation of a flag that names its environment variable.
const environment = "environment"

// bind adds a flag for each field that has the tag flag, its name. The tags env, default and help are the flag's
// environment variable, default and help; unit is that of a duration which is written as a number. A field with the tag
// settings has such fields itself.
func bind(flags *pflag.FlagSet, options any) {
	fields := reflect.ValueOf(options).Elem()
	for i := range fields.NumField() {
		if _, group := fields.Type().Field(i).Tag.Lookup("settings"); group {
			bind(flags, fields.Field(i).Addr().Interface())
			continue
		}
		tag := fields.Type().Field(i).Tag
		name, env := tag.Get("flag"), tag.Get("env")
		if name == "" {
			continue
		}
		v := value{to: fields.Field(i).Addr().Interface(), unit: tag.Get("unit")}
		if v.text = tag.Get("default"); v.text != "" {
			if err := v.Set(v.text); err != nil {
				panic(err) // the tag is wrong
			}
		}
		f := flags.VarPF(&v, name, "", strings.TrimSpace(tag.Get("help")+"\n"+env))
		f.Annotations = map[string][]string{environment: {env}}
		if v.Type() == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}

// value is the value of a flag or environment variable, which sets a field.
type value struct {
	to   any
	text string
	unit string // of a duration that is written as a number; else it has its unit
}

func (v *value) String() string { return v.text }

// Type is what help shows for the value; for bool nothing.
func (v *value) Type() string {
	if v.unit != "" {
		return "number"
	}
	switch v.to.(type) {
	case *bool:
		return "bool"
	case *int, *uint64, *float64, **float64:
		return "number"
	case *time.Duration:
		return "duration"
	}
	return "string"
}

// Set reads the field from a text. Values of a list are separated by commas.
func (v *value) Set(text string) (err error) {
	v.text = text
	switch to := v.to.(type) {
	case *string:
		*to = text
	case *[]string:
		*to = append(*to, strings.Split(text, ",")...)
	case encoding.TextUnmarshaler:
		return to.UnmarshalText([]byte(text))
	case *bool:
		*to = slices.Contains([]string{"true", "1", "yes"}, strings.ToLower(text))
		if !*to && !slices.Contains([]string{"false", "0", "no"}, strings.ToLower(text)) {
			return fmt.Errorf("%q cannot be used: write true or false", text)
		}
	case *time.Duration:
		if v.unit != "" {
			if *to, err = time.ParseDuration(text + v.unit); err != nil {
				return fmt.Errorf("%q cannot be used: write a number such as 20", text)
			}
		} else if *to, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("%q cannot be used: write a time such as 30s or 5m", text)
		}
	default:
		if err := json.Unmarshal([]byte(text), to); err != nil {
			return fmt.Errorf("%q cannot be used: write a number such as 20", text)
		}
	}
	return nil
}

// readEnvironment sets the flags that the command line does not.
func readEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		for _, env := range f.Annotations[environment] {
			text := os.Getenv(env)
			if text == "" || f.Changed || err != nil {
				continue
			}
			if wrong := f.Value.Set(text); wrong != nil {
				err = fmt.Errorf("%s: %w", env, wrong)
			}
		}
	})
	return err
}
