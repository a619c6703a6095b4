package config

import (
	"os"
	"strconv"
)

// Members is what stands in for the suite's numbers of members where any number does: MEMBERS, or 1.
func Members() int {
	if members, err := strconv.Atoi(os.Getenv("MEMBERS")); err == nil {
		return members
	}
	return 1
}
