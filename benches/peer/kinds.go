package main

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// kind is a resource that is watched, in one version.
type kind struct {
	schema.GroupVersionResource
	Kind string
}

// excluded are the resources that addon-controller leaves alone by default
// (src/discover/selection.rs).
var excluded = map[schema.GroupResource]bool{
	{Resource: "endpoints"}: true,
	{Resource: "events"}:    true,
	{Resource: "secrets"}:   true,
	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}: true,
	{Group: "discovery.k8s.io", Resource: "endpointslices"}:                true,
	{Group: "cilium.io", Resource: "ciliumendpoints"}:                      true,
	{Group: "cilium.io", Resource: "ciliumidentities"}:                     true,
	{Group: "addons.x-k8s.io", Resource: "addons"}:                         true,
}

var excludedGroups = map[string]bool{
	"coordination.k8s.io":       true,
	"custom.metrics.k8s.io":     true,
	"events.k8s.io":             true,
	"external.metrics.k8s.io":   true,
	"metrics.k8s.io":            true,
	"internal.apiserver.k8s.io": true,
}

// served gives the kinds that can be listed and watched, and the groups that
// couldn't be read, of which nothing is known now.
func served(client discovery.DiscoveryInterface) (map[kind]bool, map[string]bool, error) {
	lists, err := client.ServerPreferredResources()
	failed := map[string]bool{}
	if err != nil {
		var partial *discovery.ErrGroupDiscoveryFailed
		if !errors.As(err, &partial) {
			return nil, nil, err
		}
		for version := range partial.Groups {
			failed[version.Group] = true
		}
	}
	kinds := map[kind]bool{}
	lists = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, lists)
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, resource := range list.APIResources {
			gvr := version.WithResource(resource.Name)
			if !excludedGroups[gvr.Group] && !excluded[gvr.GroupResource()] {
				kinds[kind{gvr, resource.Kind}] = true
			}
		}
	}
	return kinds, failed, nil
}
