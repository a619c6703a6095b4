import { imageMoments } from './cluster-images.ts';
import type { ClusterLife } from './cluster-life.ts';
import type { ClusterNode } from './cluster-node.ts';
import type { ClusterScenarioKind, ClusterStep } from './cluster-plan.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { isUserScenario } from '../users/user-weights.ts';
import { MemberScenarios } from './member-scenarios.ts';

/** A scenario in a cluster over a model of the log. */
export class ClusterScenarioStep extends MemberScenarios<ClusterLife, ClusterNode> {
  declare protected readonly world: ClusterWorld;

  static run(world: ClusterWorld, step: ClusterStep, kind: ClusterScenarioKind): void {
    const able = ClusterScenarioStep.able(world, step, kind);
    if (able === undefined) return;
    const scenario = new ClusterScenarioStep(world, step, ...able);
    if (isUserScenario(kind)) scenario.ofUsers(kind);
    else scenario[kind]();
  }

  /** The answer of the leader's append is lost, and a member that starts finds the batch in the log. */
  'start-behind-append'(): void {
    this.disturb();
    this.leader.log.loseAppend('there');
    this.send(this.leader, 'put');
    const node = this.nodeOf(this.follower);
    this.world.kill(node);
    this.after(20 * this.random.fraction(), () => this.world.start(node));
    this.readInTurns(60, this.world.settings.logTimeoutMs / 30, () => [node.serving, this.leader]);
  }

  /** The answer of the leader's append is lost, and the leader is paused until another one leads: that one's seal is the next answer. */
  'pause-in-settlement'(): void {
    this.disturb();
    this.leader.log.loseAppend(this.random.pick(['lost', 'lost', 'there', 'late'] as const));
    for (let left = 3; left > 0; left -= 1) this.send(this.leader, 'put');
    this.after(this.world.settings.logTimeoutMs * (0.8 + 0.4 * this.random.fraction()), () => {
      const goOn = this.pause(this.leader);
      this.when(() => this.world.leaders.some((life) => life !== this.leader), 50, goOn, goOn);
    });
  }

  /**
   * The leader reads the version that a write supersedes, for a watcher. Meanwhile other members show the write, and clients compact up
   * to it.
   */
  'apply-behind-others'(): void {
    this.send(this.leader, 'watch-everything');
    this.after(50, () => {
      this.disturb();
      this.leader.values.stall('get-many', this.random.pick([100, 500]));
      for (let left = 3; left > 0; left -= 1) this.send(this.leader, 'lock');
      this.readInTurns(40, 5, () => [this.follower, this.leader]);
      for (const asked of [this.leader, this.leader, this.follower])
        this.after(200 * this.random.fraction(), () => this.send(asked, 'compact-newest'));
    });
  }

  /** A member hands over before its takeover is complete, because the log answers late. */
  'move-from-takeover'(): void {
    this.disturb();
    const elected = this.follower;
    const { logTimeoutMs } = this.world.settings;
    this.world.onNextSeal(elected.id, () => {
      if (this.world.ending) return;
      elected.log.stallAnswers(0.9 * logTimeoutMs * this.random.fraction());
      this.move(elected, this.nodeOf(this.leader));
    });
    this.move(this.leader, this.nodeOf(elected));
  }

  /**
   * A leader is killed, or paused until another one may lead, at some request of a round or a trim. Then it comes back.
   */
  'end-in-round'(): void {
    this.disturb();
    const { images, scheduler } = this.world;
    const due = this.random.pick(imageMoments);
    let left = this.random.pick([0, 0, 2]);
    images.onMoment = (member, moment) => {
      if (moment !== due) return;
      left -= 1;
      if (left >= 0) return;
      images.onMoment = undefined;
      const node = this.world.nodeOf(member);
      if (this.world.ending || node.alive === undefined) return;
      this.world.tell(() => `  m${member} ends in a round, at ${moment}`);
      if (this.random.chance(0.5)) {
        scheduler.after(6000 * this.random.fraction(), this.pause(node.alive));
        return;
      }
      this.world.kill(node);
      if (this.random.chance(0.5)) this.world.loseCopy(node);
      scheduler.after(3000 * this.random.fraction(), () => this.world.startSoon(node));
    };
    this.fill(30);
  }

  /** A member that has lost its local copy comes back after the log was trimmed. */
  'join-behind-trim'(): void {
    this.disturb();
    const { images } = this.world;
    const node = this.nodeOf(this.follower);
    const { trimmed } = images;
    this.world.kill(node);
    this.world.loseCopy(node);
    this.fill(30);
    const start = (): void => this.world.startSoon(node);
    this.when(() => images.trimmed > trimmed, 50, start, start);
  }
}
