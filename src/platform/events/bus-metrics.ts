import { CALL_BUCKETS } from '../observe/measuring/buckets.ts';
import { closedLabel } from '../observe/measuring/closed-label.ts';
import { counter, histogram, Tally } from '../observe/measuring/declare.ts';

/** Topic of the messages by which a process measures how long its own messages take. */
export const ECHO_TOPIC = 'echo';

/** The topics of all modules. Another client of the database or Redis may send messages with other topics. */
const topicOf = closedLabel([
  'task',
  'task_deleted',
  'work',
  'deliver',
  'circuit',
  'circuit-reset',
  'pauses',
  'process',
  ECHO_TOPIC,
]);

/** Keys are a direction and a topic, such as `in task`. */
const events = new Tally(
  'darkroom_bus_news_total',
  'Events that this process sent and received, by topic.',
  ['topic', 'direction'],
  (counted) => {
    const [direction = '', topic] = counted.split(' ');
    return { direction, topic: topic ?? '' };
  },
);

export const droppedEvents = counter(
  'darkroom_bus_dropped_total',
  'Events that this process dropped because its connection was away for too long; the others read again instead.',
);

export const partitionedSeconds = counter(
  'darkroom_bus_deaf_seconds_total',
  'Seconds before a reconnection for which news may have been missed.',
);

export const echoSeconds = histogram(
  'darkroom_bus_echo_seconds',
  'Time of a message of this process to the bus and back. One that does not come back counts with the time until it is given up.',
  CALL_BUCKETS,
);

export function eventsSent(topic: string): void {
  events.add(`out ${topicOf(topic)}`);
}

export function eventsReceived(topic: string, count: number): void {
  events.add(`in ${topicOf(topic)}`, count);
}
