package main

import (
	"strings"
	"testing"
)

const object = "configmaps/ns/a"

func happened() *ledger {
	return &ledger{facts: []fact{{added, object, 10}, {modified, object, 12}, {deleted, object, 0}}}
}

func TestWatchersAreJudged(t *testing.T) {
	right := []fact{{added, object, 10}, {modified, object, 12}, {deleted, object, 15}}
	for _, test := range []struct {
		why  string
		seen []fact
		gaps []gap
		says string // nothing: it is right
	}{
		{"everything once", right, nil, ""},
		{"one event twice", append([]fact{right[0]}, right...), nil, "came after"},
		{"one change twice, at another revision", append(right[:3:3], fact{modified, object, 16}), nil, "seen before"},
		{"one change missing", []fact{right[0], right[2]}, nil, "was not seen"},
		{"a deletion missing", right[:2], nil, "deleted, but"},
		{"another object's change", append(right[:3:3], fact{added, "configmaps/ns/b", 17}), nil, "did not happen"},
		{"another kind of change", []fact{right[0], {added, object, 12}, right[2]}, nil, "did not happen"},
		{"an order that goes back", []fact{right[1], right[0], right[2]}, nil, "came after"},
		{"a list in between", right, []gap{{10, 12}}, "without a list"},
	} {
		t.Run(test.why, func(t *testing.T) {
			err := (&sequence{facts: test.seen, gaps: test.gaps}).checkAgainst(happened())
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("the judge says %v, and should say %q", err, test.says)
			}
		})
	}
}

func TestAGapExcusesWhatIsInItOnly(t *testing.T) {
	truth := []fact{{added, object, 10}, {modified, object, 12}, {modified, object, 14}}
	in := &sequence{facts: []fact{truth[0], truth[2]}, gaps: []gap{{10, 12}}}
	if err := in.checkAgainstTruth(truth); err != nil {
		t.Errorf("what lies in the gap is missing: %v", err)
	}
	beside := &sequence{facts: []fact{truth[0], truth[1]}, gaps: []gap{{10, 12}}}
	if err := beside.checkAgainstTruth(truth); err == nil {
		t.Error("what lies behind the gap is missing, and that is not found")
	}
}
