internal import Catalogue
internal import Clocks
internal import Contracts
internal import Identifiers
internal import Logging
internal import OutboundHttp

/// What the operations of this service are put together from.
struct AutoSignInParts: Sendable {
    let settings: AutoSignInSettings
    let keys: AutoSignInKeys
    /// Private keys of developer teams.
    let appleKeys: AppleKeyFolder
    let store: AutoSignInStore
    let logins: any Logins
    let catalogue: any CatalogueSource
    let transport: any OutboundTransport
    let clock: any WallClock
    let random: any RandomSource
    let logger: Logger
    let metrics = AutoSignInMetrics()
}

/// What they share.
struct AutoSignInBase: Sendable {
    let parts: AutoSignInParts
    let callers: CallerCheck
    let idempotency: Idempotency
    let outbox: Outbox
    let events: SecurityLog
    let webSessions: WebSessions
    let values: ValueSeal

    /// - Parameter appleCourier: Takes the letters of kind `revoke`.
    init(_ parts: AutoSignInParts, appleCourier: any OutboxCourier) {
        self.parts = parts
        values = ValueSeal(parts.keys)
        callers = CallerCheck(logins: parts.logins, store: parts.store, clock: parts.clock)
        idempotency = Idempotency(store: parts.store, seal: parts.keys.seal(for: .answers), clock: parts.clock)
        events = SecurityLog(store: parts.store, metrics: parts.metrics, logger: parts.logger)
        webSessions = WebSessions(store: parts.store, clock: parts.clock, random: parts.random)
        let storeKit = StoreKitCourier(
            store: parts.store, catalogue: parts.catalogue, tokens: StoreKitTokens(keys: parts.appleKeys, clock: parts.clock), values: values,
            addresses: parts.settings.apple, transport: parts.transport, logger: parts.logger)
        outbox = Outbox(
            store: parts.store,
            couriers: [
                .update: storeKit, .delete: storeKit, .revoke: appleCourier, .endSessions: SessionCourier(logins: parts.logins),
            ], clock: parts.clock, random: parts.random, metrics: parts.metrics, logger: parts.logger)
    }
}
