package main

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// health is how something is. The larger it is the more it colours an add-on.
type health int

const (
	current health = iota
	terminating
	progressing
	unknown
	degraded
)

var words = [...]string{"Healthy", "Terminating", "Progressing", "Unknown", "Degraded"}

// MarshalText gives the word for it.
func (h health) MarshalText() ([]byte, error) {
	return []byte(words[h]), nil
}

// judge asks kstatus how an object is.
func judge(object *unstructured.Unstructured) (health, string) {
	result, err := status.Compute(object)
	if err != nil {
		return unknown, err.Error()
	}
	switch result.Status {
	case status.CurrentStatus:
		return current, ""
	case status.InProgressStatus:
		return progressing, result.Message
	case status.FailedStatus:
		return degraded, result.Message
	case status.TerminatingStatus:
		return terminating, result.Message
	default:
		return unknown, result.Message
	}
}
