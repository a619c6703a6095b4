package config

import (
	"os"
	"strconv"
	"time"
)

// Members is what stands in for the suite's numbers of members where any number does: MEMBERS, or 1.
func Members() int { return fromEnvironment("MEMBERS") }

// Patient is the bound of a case, PATIENCE times as long as in the suite.
func Patient(bound time.Duration) time.Duration {
	return time.Duration(fromEnvironment("PATIENCE")) * bound
}

func fromEnvironment(name string) int {
	if value, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return value
	}
	return 1
}
