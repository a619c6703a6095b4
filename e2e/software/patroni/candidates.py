"""Patroni's own client of etcd's gateway, without PostgreSQL: two candidates for the leadership of one cluster. See ../README.md.

It prints `ok <check>` or `FAILED <check>: <why>`. At `please <what>` it waits for a line, before which that has been done to the store.
"""

import logging
import os
import sys
import threading

from patroni.dcs import get_dcs

LEASE_SECONDS = 5
WAIT_MAX_SECONDS = 30

logging.basicConfig(level=logging.WARNING, stream=sys.stderr)


def candidate(name):
    login = dict(username=os.environ["USER_NAME"], password=os.environ["PASSWORD"])
    config = dict(namespace="/service/", scope="e2e", name=name, loop_wait=1, ttl=LEASE_SECONDS, retry_timeout=5)
    return get_dcs({**config, "etcd3": dict(hosts=[os.environ["ENDPOINT"]], protocol="http", **login)})


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r}, and not {wanted!r}")


def please(what):
    print("please", what, flush=True)
    sys.stdin.readline()


def until(what, look, woken):
    """What a replica does: it sleeps until its watch wakes it, and looks again."""
    for _ in range(WAIT_MAX_SECONDS):
        if look():
            return
        woken.watch(None, 1)
    raise AssertionError(f"not {what} within {WAIT_MAX_SECONDS} s")


first, second = candidate("first"), candidate("second")


def check_members():
    for member in (first, second):
        equal(member.touch_member({"state": "running", "conn_url": "postgres://host/"}), True)
    until("two members", lambda: len(first.get_cluster().members) == 2, first)
    equal({member.session for member in first.get_cluster().members}, {first._lease, second._lease})


def check_initialize():
    equal(bool(first.initialize(create_new=True, sysid="7")), True)
    equal(bool(second.initialize(create_new=True, sysid="8")), False)
    until("the id of the first", lambda: second.get_cluster().initialize == "7", second)


def check_leader():
    equal(bool(first.attempt_to_acquire_leader()), True)
    equal(bool(second.attempt_to_acquire_leader()), False)
    until("a leader", lambda: second.get_cluster().leader_name == "first", second)
    until("its own leadership", lambda: first.get_cluster().leader_name == "first", first)
    equal(bool(first.update_leader(first.get_cluster(), 4711)), True)
    until("the leader's position", lambda: second.get_cluster().status.last_lsn == 4711, second)


def check_config():
    equal(first.set_config_value('{"ttl":5}'), True)
    until("a configuration", lambda: second.get_cluster().config is not None, second)
    version = second.get_cluster().config.modify_version
    equal(second.set_config_value('{"ttl":6}', version), True)
    equal(first.set_config_value('{"ttl":7}', version), False)
    until("the newer one", lambda: first.get_cluster().config.data == {"ttl": 6}, first)


def check_wakes():
    """The watch of a replica wakes it when the leader gives up, long before it would look again."""
    woken = threading.Event()

    def sleep():
        if second.watch(None, WAIT_MAX_SECONDS):
            woken.set()

    # What has come before wakes nobody.
    while second.watch(None, 0.2):
        pass
    sleeper = threading.Thread(target=sleep, daemon=True)
    sleeper.start()
    equal(first.delete_leader(first.get_cluster().leader), True)
    sleeper.join(WAIT_MAX_SECONDS / 2)
    equal(woken.is_set(), True)
    until("no leader", lambda: second.get_cluster().is_unlocked(), second)
    equal(bool(second.attempt_to_acquire_leader()), True)


def check_sync():
    version = first.set_sync_state_value('{"leader":"second","sync_standby":"first"}')
    equal(bool(version), True)
    equal(bool(second.set_sync_state_value("{}", "1")), False)
    equal(bool(second.delete_sync_state(version)), True)


def check_tokens():
    """Tokens that have ended are replaced by a new log-in, without the caller's doing."""
    please("end tokens")
    equal(bool(second.update_leader(second.get_cluster(), 4712)), True)
    equal(first.set_config_value('{"ttl":8}'), True)


def check_restart():
    """A store that was killed comes back: the leader keeps its lease, and watches go on."""
    lease = second._lease
    please("kill and start")
    until("the leader", lambda: leads(second), second)
    equal(second._lease, lease)
    equal(first.set_config_value('{"ttl":9}'), True)
    until("what the other wrote", lambda: config_of(second) == {"ttl": 9}, second)


def leads(member):
    try:
        return bool(member.update_leader(member.get_cluster(), 4713))
    except Exception:
        return False


def config_of(member):
    try:
        return member.get_cluster().config.data
    except Exception:
        return None


def check_takeover():
    """A leader that says nothing any more loses its lease, and the other takes its place."""
    until("no leader", lambda: first.touch_member({"state": "running"}) and first.get_cluster().is_unlocked(), first)
    equal(bool(first.attempt_to_acquire_leader()), True)
    equal([member.name for member in first.get_cluster().members], ["first"])


def check_delete():
    equal(bool(first.delete_cluster()), True)
    until("nothing", lambda: first.get_cluster().is_empty(), first)


for check in "members initialize leader config wakes sync tokens restart takeover delete".split():
    try:
        globals()["check_" + check]()
        print("ok", check, flush=True)
    except BaseException as error:
        print(f"FAILED {check}: {type(error).__name__}: {' '.join(str(error).split())}", flush=True)
