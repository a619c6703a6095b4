package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestHeldIn(t *testing.T) {
	const page = `# HELP engram_read_pins Pins.
engram_read_pins 2
engram_budget_used{resource="answer_bytes"} 0
engram_budget_used{resource="log_queue_bytes"} 7
engram_budget_used{resource="request_bytes"} 5
`
	for streams, want := range map[string][]string{
		"1": {"engram_read_pins 2", `engram_budget_used{resource="log_queue_bytes"} 7`},
		"0": {"engram_read_pins 2", `engram_budget_used{resource="log_queue_bytes"} 7`, `engram_budget_used{resource="request_bytes"} 5`},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(page + `engram_budget_used{resource="streams"} ` + streams + "\n"))
		}))
		values, err := readMetrics(t.Context(), server.URL)
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		if held := heldIn(values); !slices.Equal(held, want) {
			t.Errorf("with %s streams: %v", streams, held)
		}
	}
	if held := heldIn(map[string]string{}); held != nil {
		t.Errorf("a store without these metrics holds %v", held)
	}
}
