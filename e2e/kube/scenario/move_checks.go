package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// A store that follows is near when it lacks so many revisions. Under the load it never lacks none for long.
	nearRevisions = 50
	nearTimeout   = 30 * time.Second
	endTimeout    = 60 * time.Second
	eventEach     = 50 * time.Millisecond
	// Of the apiserver: a cache that lists its resource anew counts here.
	cacheStartsMetric = "apiserver_watch_cache_initializations_total"
	foundedLine       = "founded a store from the snapshot"
)

var (
	// As kubeadm starts etcd. A watch without events goes on behind the last progress that it was told, which must not be compacted.
	moveFlags = []string{"--watch-progress-notify-interval=5s"}
	// A lease of the apiserver's may have a thousand Events, which end in one revision.
	backFlags = append(moveFlags, "--max-txn-ops=10000")
)

var moveSteps = []step{
	{"etcd and kube-apiserver start, with an address between them", startOnEtcd},
	{"namespaces are made, changed, listed and finalized", namespaces},
	{"clients begin to write on etcd", beginLoad},
	{"from etcd to engram under load", moveToEngram},
	{"and back to an etcd under load", moveToEtcd},
	{"no revision is lost or changed, nothing is seen twice, no watch has listed anew", endLoad},
	{"kube-apiserver stops in order", stopServer},
}

func startOnEtcd(ctx context.Context, c *cluster) (err error) {
	if c.store, err = newStore(*etcdFlag, filepath.Join(*dirFlag, "etcd"), 1); err != nil {
		return err
	}
	c.store.flags = moveFlags
	if err = c.store.start(ctx); err != nil {
		return err
	}
	if c.relay, err = newRelay(); err != nil {
		return err
	}
	c.relay.release(c.store.addresses())
	return startServer(ctx, c, *dirFlag, []string{c.relay.url()})
}

// moves is what runs while the apiserver is moved.
type moves struct {
	*load
	cacheStarts map[string]string
	events      *eventWriter
	cancel      context.CancelFunc
}

func beginLoad(ctx context.Context, c *cluster) (err error) {
	m := &moves{}
	if m.cacheStarts, err = c.cacheStarts(ctx); err != nil {
		return err
	}
	// Beyond this check.
	ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if m.load, err = startLoad(ctx, c, crashNamespace); err != nil {
		return err
	}
	own, err := c.server.newClient("events")
	if err != nil {
		return err
	}
	m.events = startEvents(ctx, own)
	c.moves = m
	return goesOn(ctx, m.acknowledged, "writes begin")
}

// follower is what brings a store to another one that is written to.
type follower struct {
	// behind tells how many revisions are missing.
	behind func(context.Context) (int64, error)
	// finish is called when nobody writes any more. Behind it the two are equal.
	finish func(context.Context) error
}

// canMove fails where an earlier check has.
func (c *cluster) canMove() error {
	if c.moves == nil || c.next != nil {
		return errors.New("a check before this one has failed")
	}
	return nil
}

func moveToEngram(ctx context.Context, c *cluster) (err error) {
	if err := c.canMove(); err != nil {
		return err
	}
	folder := filepath.Join(*dirFlag, "engram")
	if c.next, err = newStore(*launcherFlag, folder, *membersFlag); err != nil {
		return err
	}
	c.next.flags = moveFlags
	if *mirrorFlag {
		file := filepath.Join(folder, "etcd.db")
		if err := c.save(ctx, file); err != nil {
			return err
		}
		if err := command(ctx, *launcherFlag, "restore", file, "--data-dir="+filepath.Join(folder, "copy"),
			"--initial-cluster="+c.next.initialCluster()); err != nil {
			return err
		}
		if err := c.next.start(ctx); err != nil {
			return err
		}
		return c.mirrorAndMove(ctx, "engram")
	}
	c.next.command = []string{"migrate"}
	c.next.flags = append(c.next.flags, "--from="+strings.Join(c.store.urls(), ","))
	// The first member founds the store, and the others find it.
	if err := c.next.launch(c.next.members[0]); err != nil {
		return err
	}
	if err := c.next.members[0].says(ctx, foundedLine); err != nil {
		return err
	}
	if err := c.next.start(ctx); err != nil {
		return err
	}
	return c.move(ctx, "engram", follower{
		behind: c.next.behind,
		finish: func(ctx context.Context) error {
			if err := waitFor(ctx, "nothing is missing", func() (bool, error) {
				missing, err := c.next.behind(ctx)
				return missing == 0, err
			}); err != nil {
				return err
			}
			return again(ctx, func() (err error) {
				// The member that leads does it, and the others refuse.
				for _, m := range c.next.members {
					if err = command(ctx, *engramFlag, "cut-over", "--data-dir="+m.dataDir); err == nil {
						return nil
					}
				}
				return err
			})
		},
	})
}

func moveToEtcd(ctx context.Context, c *cluster) (err error) {
	if err := c.canMove(); err != nil {
		return err
	}
	folder := filepath.Join(*dirFlag, "etcd-again")
	if c.next, err = newStore(*etcdFlag, folder, 1); err != nil {
		return err
	}
	file := filepath.Join(folder, "engram.db")
	if err := c.save(ctx, file); err != nil {
		return err
	}
	m := c.next.members[0]
	if err := command(ctx, *etcdutlFlag, "snapshot", "restore", file, "--name="+m.name, "--data-dir="+m.dataDir,
		"--initial-cluster="+c.next.initialCluster(), "--initial-advertise-peer-urls="+m.peerURL()); err != nil {
		return err
	}
	c.next.flags = backFlags
	if err := c.next.start(ctx); err != nil {
		return err
	}
	return c.mirrorAndMove(ctx, "etcd")
}

// mirrorAndMove brings the next store, restored from a snapshot, to this one by `engram mirror`.
func (c *cluster) mirrorAndMove(ctx context.Context, to string) error {
	flags := []string{"--from=" + strings.Join(c.store.urls(), ","), "--to=" + strings.Join(c.next.urls(), ",")}
	running, err := startProcess(filepath.Join(c.next.dir, "mirror.log"), *engramFlag, append([]string{"mirror"}, flags...)...)
	if err != nil {
		return err
	}
	defer running.kill()
	old, next, closeBoth, err := c.clientsOfBoth()
	if err != nil {
		return err
	}
	defer closeBoth()
	return c.move(ctx, to, follower{
		behind: func(ctx context.Context) (int64, error) {
			select {
			case <-running.exited:
				return 0, fmt.Errorf("the mirror has ended:\n%s", running.tail(4000))
			default:
			}
			at, err := newestRevision(ctx, next)
			if err != nil {
				return 0, err
			}
			newest, err := newestRevision(ctx, old)
			return newest - at, err
		},
		finish: func(ctx context.Context) error {
			running.stop()
			if state := running.command.ProcessState; !state.Success() {
				return fmt.Errorf("the mirror ended with %v:\n%s", state, running.tail(4000))
			}
			return command(ctx, *engramFlag, append([]string{"mirror", "--until-equal"}, flags...)...)
		},
	})
}

// move lets the next store come near, closes the address until both are equal, and leads it to the next store.
func (c *cluster) move(ctx context.Context, to string, f follower) error {
	missing, err := near(ctx, f)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(*stayFlag):
	}
	old, next, closeBoth, err := c.clientsOfBoth()
	if err != nil {
		return err
	}
	defer closeBoth()
	var at int64
	var drained, closed time.Duration
	pause, err := c.moves.whileWatched(ctx, func() (err error) {
		begin := time.Now()
		c.relay.hold()
		drained = time.Since(begin)
		if missing, err = f.behind(ctx); err == nil {
			err = f.finish(ctx)
		}
		if err == nil {
			at, err = newestRevision(ctx, next)
		}
		if err != nil {
			c.relay.release(c.store.addresses())
			return err
		}
		c.relay.release(c.next.addresses())
		closed = time.Since(begin)
		return goesOn(ctx, c.moves.acknowledged, "writes go on behind the move")
	})
	if err != nil {
		return err
	}
	fmt.Printf("      to %s at revision %d: no write was acknowledged for %v; the address was closed for %v, of which the old store "+
		"took %v to answer and the rest to bring %d revisions\n", to, at, pause.Round(time.Millisecond),
		closed.Round(time.Millisecond), drained.Round(time.Millisecond), missing)
	keys, events, err := sameHistory(ctx, old, next, at)
	if err != nil {
		return err
	}
	if err := nothingWritten(ctx, old, at); err != nil {
		return err
	}
	fmt.Printf("      %d keys and %d events are equal at both, and the old store has got no write since\n", keys, events)
	if err := nothingHeld(ctx, c); err != nil {
		return err
	}
	c.store.stop()
	c.store, c.next = c.next, nil
	return nil
}

// near waits until few revisions are missing, and goes on after a while with those that are.
func near(ctx context.Context, f follower) (missing int64, err error) {
	for begin := time.Now(); time.Since(begin) < nearTimeout; {
		if missing, err = f.behind(ctx); err != nil || missing <= nearRevisions {
			return missing, err
		}
		select {
		case <-ctx.Done():
			return missing, ctx.Err()
		case <-time.After(pollInterval):
		}
	}
	return missing, nil
}

var behindText = regexp.MustCompile(`(\d+) revisions behind`)

// behind asks a store that follows: of its members the one that leads tells it.
func (s *store) behind(ctx context.Context) (int64, error) {
	for at := 0; ; at++ {
		m := s.members[at%len(s.members)]
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url()+"/readyz?verbose", nil)
		if err != nil {
			return 0, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, fmt.Errorf("%w:\n%s", err, m.running.tail(4000))
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return 0, err
		}
		if found := behindText.FindSubmatch(text); found != nil {
			return strconv.ParseInt(string(found[1]), 10, 64)
		}
		if at%len(s.members) < len(s.members)-1 {
			continue
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: the store does not tell how far it is: %s", ctx.Err(), text)
		case <-time.After(pollInterval):
		}
	}
}

func (c *cluster) save(ctx context.Context, file string) error {
	return command(ctx, *etcdctlFlag, "--endpoints="+c.store.urls()[0], "snapshot", "save", file)
}

func (c *cluster) clientsOfBoth() (old, next *clientv3.Client, closeBoth func(), err error) {
	if old, err = newStoreClient(c.store.urls()); err != nil {
		return nil, nil, nil, err
	}
	if next, err = newStoreClient(c.next.urls()); err != nil {
		old.Close()
		return nil, nil, nil, err
	}
	return old, next, func() { old.Close(); next.Close() }, nil
}

// command runs a program to its end; its output is in the error.
func command(ctx context.Context, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	output, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, output)
	}
	return nil
}

// again tries until it succeeds, or gives the last error at the bound.
func again(ctx context.Context, try func() error) error {
	for begin := time.Now(); ; {
		err := try()
		if err == nil || time.Since(begin) > endTimeout || ctx.Err() != nil {
			return err
		}
	}
}

// cacheStarts tells how often each cache of the apiserver has listed its resource.
func (c *cluster) cacheStarts(ctx context.Context) (map[string]string, error) {
	text, err := c.admin.typed.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	all, err := parseMetrics(strings.NewReader(string(text)))
	starts := map[string]string{}
	for name, value := range all {
		if strings.HasPrefix(name, cacheStartsMetric+"{") {
			starts[name] = value
		}
	}
	if err == nil && len(starts) == 0 {
		return nil, fmt.Errorf("the apiserver does not tell %s", cacheStartsMetric)
	}
	return starts, err
}

// eventWriter makes Events, which end with their leases, whatever store has them then.
type eventWriter struct {
	stop chan struct{}
	made chan int
}

func startEvents(ctx context.Context, own *client) *eventWriter {
	w := &eventWriter{stop: make(chan struct{}), made: make(chan int, 1)}
	go func() {
		made := 0
		for at := 0; ; at++ {
			select {
			case <-w.stop:
				w.made <- made
				return
			case <-time.After(eventEach):
			}
			// One whose answer is lost is there, or is not: it ends either way.
			if _, err := own.typed.CoreV1().Events(loadNamespace).Create(ctx, &corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("event-%06d", at)},
				InvolvedObject: corev1.ObjectReference{Kind: "ConfigMap", Namespace: loadNamespace, Name: "any"},
				Reason:         "Tested", Type: corev1.EventTypeNormal,
			}, metav1.CreateOptions{}); err == nil {
				made++
			}
		}
	}()
	return w
}

func endLoad(ctx context.Context, c *cluster) error {
	if err := c.canMove(); err != nil {
		return err
	}
	m := c.moves
	defer m.cancel()
	defer m.end()
	close(m.events.stop)
	made, lastMade := <-m.events.made, time.Now()
	if err := m.stopWriting(); err != nil {
		return err
	}
	lists, err := m.finish(ctx, c, crashNamespace)
	if err != nil {
		return err
	}
	for resource, count := range lists {
		if count > 0 {
			return fmt.Errorf("watches of %s had to list anew %d times", resource, count)
		}
	}
	starts, err := c.cacheStarts(ctx)
	if err != nil {
		return err
	}
	for name, before := range m.cacheStarts {
		if starts[name] != before {
			return fmt.Errorf("a cache of the apiserver has listed anew: %s was %s, and is %s", name, before, starts[name])
		}
	}
	fmt.Printf("      %d writes and %d Events; %d answers were lost; none of %d caches of the apiserver listed anew\n",
		m.acknowledged(), made, c.lost.Load(), len(starts))
	ends, cancel := context.WithTimeout(ctx, eventTTL+20*time.Second)
	defer cancel()
	err = waitFor(ends, "all Events end with their leases", func() (bool, error) {
		listed, err := c.admin.typed.CoreV1().Events(loadNamespace).List(ends, metav1.ListOptions{})
		return err == nil && len(listed.Items) == 0, err
	})
	if lived := time.Since(lastMade); err == nil && made > 0 && lived < eventTTL-time.Second {
		return fmt.Errorf("the last Event lived for %v instead of %v", lived, eventTTL)
	}
	return err
}
