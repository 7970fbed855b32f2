package main

import (
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const (
	labelPrefix  = "addons.x-k8s.io/"
	versionLabel = "app.kubernetes.io/version"
)

// index holds the labelled objects by the add-ons that they belong to.
type index struct {
	mu      sync.Mutex
	objects map[key]*component
	addons  map[string]*addon
	// Counts changes, so that readers know whether what they have is current.
	generation uint64
}

type key struct {
	kind            kind
	namespace, name string
}

// component is a labelled object. It is replaced, never changed.
type component struct {
	key
	uid, owner types.UID
	// Install by identifier.
	memberships map[string]string
	version     string
	health      health
	message     string
}

func newIndex() *index {
	return &index{objects: map[key]*component{}, addons: map[string]*addon{}, generation: 1}
}

// memberships gives the install by identifier; nil for an object without the label.
func memberships(labels map[string]string) map[string]string {
	var found map[string]string
	for name, install := range labels {
		if identifier, ok := strings.CutPrefix(name, labelPrefix); ok {
			if found == nil {
				found = make(map[string]string, 1)
			}
			found[identifier] = install
		}
	}
	return found
}

// set takes over an object as it is now.
func (i *index) set(kind kind, object *unstructured.Unstructured) {
	labels := object.GetLabels()
	belongs := memberships(labels)
	if len(belongs) == 0 {
		i.remove(kind, object.GetNamespace(), object.GetName())
		return
	}
	now := &component{
		key:         key{kind, object.GetNamespace(), object.GetName()},
		uid:         object.GetUID(),
		memberships: belongs,
		version:     labels[versionLabel],
	}
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		now.owner = owner.UID
	}
	now.health, now.message = judge(object)

	i.mu.Lock()
	defer i.mu.Unlock()
	i.drop(i.objects[now.key])
	i.objects[now.key] = now
	for identifier := range belongs {
		if i.addons[identifier] == nil {
			i.addons[identifier] = newAddon(identifier)
		}
		i.addons[identifier].add(now)
	}
	i.generation++
}

// remove forgets an object.
func (i *index) remove(kind kind, namespace, name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if known := i.objects[key{kind, namespace, name}]; known != nil {
		i.drop(known)
		i.generation++
	}
}

// forget forgets all objects of a kind.
func (i *index) forget(kind kind) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for key, known := range i.objects {
		if key.kind == kind {
			i.drop(known)
			i.generation++
		}
	}
}

func (i *index) drop(known *component) {
	if known == nil {
		return
	}
	delete(i.objects, known.key)
	for identifier := range known.memberships {
		if addon := i.addons[identifier]; addon.remove(known) {
			delete(i.addons, identifier)
		}
	}
}
