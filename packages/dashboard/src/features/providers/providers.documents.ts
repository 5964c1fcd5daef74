import { graphql, type ResultOf } from '../../api/graphql.ts';

export const ProvidersUpdated = graphql(`
  subscription ProvidersUpdated {
    operationsUpdated {
      providers {
        place
        provider
        host
        credential
        concurrency
        inFlight
        circuitOpenIn
        pauses
        models {
          model
          upstreamModel
        }
      }
      pauses(first: 100) {
        edges {
          node {
            id
            kind
            model
            place
            provider
            reason
            tasks
            until
          }
        }
      }
    }
  }
`);

export const ModelHealth = graphql(`
  query ModelHealth {
    models {
      id
      kind
      available
      health {
        status
        successRate
        medianRunS
      }
    }
  }
`);

export const LatestActs = graphql(`
  query LatestActs($keepsAndShares: Boolean, $after: String) {
    operations {
      auditEvents(keepsAndShares: $keepsAndShares, after: $after, first: 20) {
        edges {
          node {
            id
            action
            actorType
            actorId
            targetId
            before
            after
            createdAt
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  }
`);

export const CreatePause = graphql(`
  mutation CreatePause($input: CreatePauseInput!) {
    createPause(input: $input) {
      id
    }
  }
`);

export const EndPause = graphql(`
  mutation EndPause($id: String!, $reason: String) {
    endPause(id: $id, reason: $reason) {
      id
    }
  }
`);

export const CloseCircuit = graphql(`
  mutation CloseCircuit($place: Int!, $reason: String) {
    closeCircuit(place: $place, reason: $reason) {
      place
    }
  }
`);

type Updated = ResultOf<typeof ProvidersUpdated>['operationsUpdated'];
export type Place = Updated['providers'][number];
export type Pause = Updated['pauses']['edges'][number]['node'];
export type Act = ResultOf<typeof LatestActs>['operations']['auditEvents']['edges'][number]['node'];
