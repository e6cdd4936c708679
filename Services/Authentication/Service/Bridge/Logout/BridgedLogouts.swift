internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Logging

/// Tells upstreams of logouts, at once where they can be reached, else as soon as they can (bridge §10.2).
struct BridgedLogouts: Sendable {
    /// An app waits so long for upstream to hear of its logout.
    private static let atOnce: Duration = .milliseconds(1500)
    private static let pauses: [Duration] = [.seconds(5), .seconds(30), .seconds(120), .seconds(600)]
    private static let laterPause: Duration = .seconds(3600)
    private static let mostAtOnce = 5

    let caller: BridgeCaller
    let store: any BridgeStore
    let catalogue: any CatalogueSource
    let clock: any WallClock
    let logger: Logger

    /// Notes what has ended, and tries once to tell upstream. The app's logout is done whatever comes of it.
    func tell(_ ended: [SessionRecord]) async throws(Fault) {
        let catalogue = try catalogue.current()
        let bridged = ended.filter { catalogue.requestor($0.key.requestor.text)?.bridge != nil }
        guard !bridged.isEmpty else { return }
        let now = clock.now()
        try await store.remember(logoutsOf: bridged.map(\.id), now: now)
        let due = try await store.dueLogouts(now: now, most: Self.mostAtOnce).filter { logout in bridged.contains { $0.id == logout.part.session } }
        for logout in due { await attempt(logout, BridgePatience(Self.atOnce)) }
    }

    /// Tries what is open for a device at an MVPD.
    /// - Returns: What is open still.
    func tried(of key: SessionKey, upstream: String, mvpd: String) async throws(Fault) -> [BridgeLogout] {
        let open = try await store.openLogouts(of: key, upstream: upstream, mvpd: mvpd, now: clock.now())
        guard !open.isEmpty else { return [] }
        for logout in open { await attempt(logout, BridgePatience(Self.atOnce)) }
        return try await store.openLogouts(of: key, upstream: upstream, mvpd: mvpd, now: clock.now())
    }

    /// Works off what is due, five a second, until it is cancelled.
    /// - Parameter isMine: Whether it is this copy's turn.
    func workOff(isMine: @Sendable () async -> Bool) async {
        var round = 0
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            guard await isMine() else { continue }
            do throws(Fault) {
                if round % 3600 == 0 { _ = try await store.rememberOrphans(now: clock.now()) }
                round += 1
                for logout in try await store.dueLogouts(now: clock.now(), most: Self.mostAtOnce) {
                    await attempt(logout, BridgePatience(.seconds(5), isBackground: true))
                }
            } catch {
                logger.debug("bridge.logouts_not_worked_off", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func attempt(_ logout: BridgeLogout, _ patience: BridgePatience) async {
        let part = logout.part
        guard let catalogue = try? catalogue.current(), let upstream = catalogue.upstream(part.upstream),
            let client = BridgeClientAt(part.slot, at: upstream), part.knowsLogout
        else {
            _ = try? await store.finish(logout)
            return
        }
        let device = BridgeDevice(part.key.device, part.device, userAgent: part.userAgent)
        let call = BridgeCall.logout(part.serviceProvider, mvpd: part.theirMvpd, redirectURL: Self.redirectURL(part, catalogue))
        do throws(BridgeTrouble) {
            _ = try await caller.ask(call, by: client, for: device, patience) { answer throws(BridgeFailure) in
                try BridgedLogout(answer, mvpd: part.theirMvpd)
            }
            _ = try? await store.finish(logout)
        } catch {
            switch error {
            // Upstream has no such profile any more, or never hears of it again.
            case .clientLost, .failure(.refused): _ = try? await store.finish(logout)
            default:
                let pause = logout.tries < Self.pauses.count ? Self.pauses[logout.tries] : Self.laterPause
                _ = try? await store.postpone(logout, until: clock.now() + pause)
            }
            logger.info("bridge.logout_not_told", metadata: ["upstream": "\(part.upstream)", "tries": "\(logout.tries + 1)"])
        }
    }

    /// Upstream wants one, though no browser goes there.
    private static func redirectURL(_ part: BridgedPart, _ catalogue: Catalogue) -> String {
        guard let requestor = catalogue.requestor(part.key.requestor.text) else { return "https://localhost/" }
        if let origin = requestor.bridge?.returnOrigin, !origin.isEmpty { return origin + "/bridge/signed-out" }
        if !requestor.defaultRedirectURL.isEmpty { return requestor.defaultRedirectURL }
        return "https://\(requestor.domains.first?.name ?? "localhost")/"
    }
}
