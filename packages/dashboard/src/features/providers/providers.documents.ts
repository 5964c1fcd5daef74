import { graphql } from '../../api/graphql.ts';

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
