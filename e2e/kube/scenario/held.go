package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// What is at 0 when no call is under way. An open stream counts with its head in request_bytes.
const (
	pinsMetric   = "engram_read_pins"
	budgetMetric = `engram_budget_used{resource="%s"}`
)

// nothingHeld: the clients have gone, so no member may hold versions or memory for calls that have ended. A store without these
// metrics passes.
func nothingHeld(ctx context.Context, c *cluster) error {
	for _, url := range c.store.urls() {
		var held []string
		err := waitFor(ctx, url+" gives back what it held", func() (bool, error) {
			values, err := readMetrics(ctx, url+"/metrics")
			if err != nil {
				return false, err
			}
			held = heldIn(values)
			return len(held) == 0, nil
		})
		if err != nil {
			return fmt.Errorf("%w: it still holds %s", err, strings.Join(held, ", "))
		}
	}
	return nil
}

func heldIn(values map[string]string) (held []string) {
	names := []string{pinsMetric, fmt.Sprintf(budgetMetric, "answer_bytes"), fmt.Sprintf(budgetMetric, "log_queue_bytes")}
	if values[fmt.Sprintf(budgetMetric, "streams")] == "0" {
		names = append(names, fmt.Sprintf(budgetMetric, "request_bytes"))
	}
	for _, name := range names {
		if value, known := values[name]; known && value != "0" {
			held = append(held, name+" "+value)
		}
	}
	return held
}

// readMetrics returns the value of each line, by its name with its labels.
func readMetrics(ctx context.Context, url string) (map[string]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return parseMetrics(response.Body)
}

func parseMetrics(text io.Reader) (map[string]string, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		if name, value, found := strings.Cut(lines.Text(), "} "); found {
			values[name+"}"] = value
		} else if name, value, found := strings.Cut(lines.Text(), " "); found && !strings.HasPrefix(name, "#") {
			values[name] = value
		}
	}
	return values, lines.Err()
}
