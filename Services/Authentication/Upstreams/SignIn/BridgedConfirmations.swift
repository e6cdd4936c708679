internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults

/// Keeps a confirmed sign-in with the browser in which a person confirmed it, where upstream has the login (bridge §7.2 to §7.4).
///
/// Upstream tells of a device that it is signed in, and not by whom, nor in which browser. The browser that returns to our own page is the one witness: whose cookie does
/// not show that it confirmed, may be of a person who was sent a link. So what began since such a login, and was not brought back, is nobody's.
struct BridgedConfirmations: Sendable {
    /// Upstream's clock may be so much behind ours before that is noticed (bridge §5.2).
    private static let tolerance: Duration = .seconds(30)

    let store: any BridgeStore
    let catalogue: any CatalogueSource

    /// Where a login is: of which device, at which MVPD of which upstream.
    struct Place: Sendable {
        let key: SessionKey
        let upstream: String
        let theirMvpd: String
    }

    /// Whether the requestor has sign-ins confirmed, and can have it: only where browsers return to us.
    func isAsked(for requestor: String) throws(Fault) -> Bool {
        guard let requestor = try catalogue.current().requestor(requestor) else { return false }
        return requestor.confirmsSignIn && !requestor.cannotConfirm
    }

    /// The logins that the profile may have come of, and which nobody brought back in the browser that confirmed them.
    /// - Returns: None where a session may be made of it. A trial and a degradation rule are nobody's login.
    func doubts(_ profile: BridgedProfile, at place: Place) async throws(Fault) -> [BridgePending] {
        guard profile.kind != .temporary, profile.kind != .degraded, try isAsked(for: place.key.requestor.text) else { return [] }
        return try await store.boundPendings(place.key, upstream: place.upstream, mvpd: place.theirMvpd)
            .filter { Self.mayComeOf($0, profile) }
    }

    /// Whether a session may be made of a profile that came without a login in a browser.
    func mayAdopt(_ profile: BridgedProfile, at place: Place, now: Timestamp) async throws(Fault) -> Bool {
        guard try await doubts(profile, at: place).isEmpty else { return false }
        return try await !isLoggingOut(place, now: now)
    }

    /// Whether upstream has yet to hear of a logout there: of a profile that is nobody's, or of a person.
    func isLoggingOut(_ place: Place, now: Timestamp) async throws(Fault) -> Bool {
        guard try isAsked(for: place.key.requestor.text) else { return false }
        return try await !store.openLogouts(of: place.key, upstream: place.upstream, mvpd: place.theirMvpd, now: now).isEmpty
    }

    /// Has upstream forget a profile that is nobody's; the logins that it may have come of are done then.
    func dismiss(_ part: BridgedPart, of pendings: [BridgePending], now: Timestamp) async throws(Fault) {
        try await store.remember(logoutOf: part, now: now)
        for pending in pendings { try await store.settle(pending.handle, as: .done) }
    }

    static func mayComeOf(_ pending: BridgePending, _ profile: BridgedProfile) -> Bool { profile.start > pending.startedAt - tolerance }
}

extension BridgePending {
    var place: BridgedConfirmations.Place { BridgedConfirmations.Place(key: key, upstream: upstream, theirMvpd: theirMvpd) }
}
