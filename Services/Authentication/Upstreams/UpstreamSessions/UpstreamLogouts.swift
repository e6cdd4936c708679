internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Logging

/// Tells upstreams of logouts, at once where they can be reached, else as soon as they can (bridge §10.2).
struct UpstreamLogouts: Sendable {
    /// An app waits so long for upstream to hear of its logout.
    private static let atOnce: Duration = .milliseconds(1500)
    private static let pauses: [Duration] = [.seconds(5), .seconds(30), .seconds(120), .seconds(600)]
    private static let laterPause: Duration = .seconds(3600)
    private static let mostAtOnce = 5

    let caller: UpstreamCaller
    let store: any UpstreamStore
    let visits: SqlAuthenticationStore
    let catalogue: any CatalogueSource
    let random: any RandomSource
    let clock: any WallClock
    let logger: Logger

    /// Notes what has ended, and tries once to tell upstream. The app's logout is done whatever comes of it.
    /// - Parameter end: Where the browser is to go at last, whose call it is; `nil`: there is none.
    func tell(_ ended: [SessionRecord], leadingTo end: String?) async throws(Fault) -> EndedAtProvider {
        let catalogue = try catalogue.current()
        var told = EndedAtProvider(end: end ?? "")
        let bridged = ended.filter { catalogue.requestor($0.key.requestor.text)?.bridge != nil }
        guard !bridged.isEmpty else { return told }
        // Trials, of which nobody is told.
        for session in bridged {
            guard let part = try await store.bridgedPart(session.id) else { continue }
            told.sessions.insert(session.id)
            caller.line.metrics.sessionsEnded(.logout, part.upstream, 1)
        }
        let now = clock.now()
        // The work-off, here or in another copy, leaves them alone while they are tried here: upstream hears of a logout once.
        let firstTry = now + Self.atOnce * (bridged.count + 1)
        try await store.remember(logoutsOf: bridged.map(\.id), now: now, firstTry: firstTry)
        let open = try await store.openLogouts(of: bridged.map(\.id).reversed(), now: now)
        told.sessions.formUnion(open.map(\.part.session))
        for logout in open { caller.line.metrics.sessionsEnded(.logout, logout.part.upstream, 1) }
        // The first visit leads to the second.
        for logout in open {
            guard end != nil else {
                _ = await attempt(logout, UpstreamDeadline(Self.atOnce))
                continue
            }
            if let address = try await visit(logout, leadingTo: told.end, catalogue) { told.end = address }
        }
        return told
    }

    /// Tells upstream, for a browser that can visit its logout page.
    /// - Returns: Where that is; `nil`: there is none, or upstream cannot be told now.
    private func visit(_ logout: UpstreamLogout, leadingTo end: String, _ catalogue: Catalogue) async throws(Fault) -> String? {
        guard let requestor = catalogue.requestor(logout.part.key.requestor.text), let upstream = catalogue.upstream(logout.part.upstream) else {
            return nil
        }
        var handle: RelayHandle?
        if !end.isEmpty, requestor.bridge?.returnOrigin.isEmpty == false {
            let made = RelayHandle.random(from: random)
            // No MVPD: the browser was at the upstream's already when it comes with the handle.
            let pending = PendingLogout(
                handle: made.digest, requestID: nil, requestor: logout.part.key.requestor, mvpd: MvpdID(""), name: SubjectName(), redirectURL: end,
                expiresAt: clock.now() + PendingLogout.lifetime)
            try await visits.add([pending])
            handle = made
        }
        let back = Self.address(after: handle, requestor, or: end)
        guard let path = await attempt(logout, UpstreamDeadline(Self.atOnce), leadingTo: back), !path.isEmpty else { return nil }
        guard let address = upstream.browserAddresses.absolute(path) else {
            logger.error("bridge.foreign_address", metadata: ["upstream": "\(upstream.id)", "operation": "logout"])
            return nil
        }
        return address
    }

    /// Tries what is open for a device at an MVPD.
    /// - Returns: The logouts that are still open.
    func tried(of key: SessionKey, upstream: String, mvpd: String) async throws(Fault) -> [UpstreamLogout] {
        let open = try await store.openLogouts(of: key, upstream: upstream, mvpd: mvpd, now: clock.now())
        guard !open.isEmpty else { return [] }
        for logout in open { _ = await attempt(logout, UpstreamDeadline(Self.atOnce)) }
        return try await store.openLogouts(of: key, upstream: upstream, mvpd: mvpd, now: clock.now())
    }

    /// Works off what is due, five a second, until it is cancelled.
    /// - Parameter isMine: True when it is this copy's turn.
    func workOff(isMine: @Sendable () async -> Bool) async {
        var round = 0
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            guard await isMine() else { continue }
            do throws(Fault) {
                if round % 3600 == 0 { _ = try await store.rememberOrphans(now: clock.now()) }
                round += 1
                // A logout that waits for an upstream waits no longer than the upstream is away.
                for upstream in caller.line.takeRecovered() { try await store.hastenLogouts(at: upstream.text, now: clock.now()) }
                for logout in try await store.dueLogouts(now: clock.now(), most: Self.mostAtOnce) {
                    _ = await attempt(logout, UpstreamDeadline(.seconds(5), isBackground: true))
                }
            } catch {
                logger.debug("bridge.logouts_not_worked_off", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// - Parameter end: Where a browser comes back to; `nil`: none goes there, though upstream wants an address.
    /// - Returns: The address of upstream's logout page, unchecked, maybe empty; `nil` when upstream was not told.
    private func attempt(_ logout: UpstreamLogout, _ deadline: UpstreamDeadline, leadingTo end: String? = nil) async -> String? {
        let part = logout.part
        guard let catalogue = try? catalogue.current(), let upstream = catalogue.upstream(part.upstream),
            let requestor = catalogue.requestor(part.key.requestor.text), let client = UpstreamClientAt(part.slot, at: upstream), part.knowsLogout
        else {
            _ = try? await store.finish(logout)
            return nil
        }
        let device = BridgeDevice(part.key.device, part.device, userAgent: part.userAgent)
        let standard = Self.address(after: nil, requestor)
        let call = BridgeCall.logout(part.serviceProvider, mvpd: part.theirMvpd, redirectURL: end ?? standard)
        do throws(UpstreamError) {
            let told = try await caller.ask(call, by: client, for: device, deadline) { answer throws(BridgeFailure) in
                try BridgedLogout(answer, mvpd: part.theirMvpd)
            }
            _ = try? await store.finish(logout)
            return told.path
        } catch {
            switch error {
            // An address that upstream does not take must not keep the profile alive.
            case .failure(.refused(let refusal)) where refusal.code == "invalid_parameter_redirect_url" && end.map({ $0 != standard }) ?? false:
                _ = await attempt(logout, deadline)
                return nil
            // Upstream has no such profile any more, or never hears of it again.
            case .clientLost, .failure(.refused): _ = try? await store.finish(logout)
            default:
                let pause = logout.tries < Self.pauses.count ? Self.pauses[logout.tries] : Self.laterPause
                _ = try? await store.postpone(logout, until: clock.now() + pause)
            }
            logger.info("bridge.logout_not_told", metadata: ["upstream": "\(part.upstream)", "tries": "\(logout.tries + 1)"])
            return nil
        }
    }

    /// Our page after a logout upstream, or where none is: an address that upstream takes (bridge §10.2).
    /// - Parameters:
    ///   - handle: Leads on from our page; `nil`: it is the last.
    ///   - end: In place of our page, where there is none; empty: the requestor's own.
    static func address(after handle: RelayHandle?, _ requestor: Requestor, or end: String = "") -> String {
        if let origin = requestor.bridge?.returnOrigin, !origin.isEmpty { return origin + signedOutPath + (handle.map { "/" + $0.text } ?? "") }
        if !end.isEmpty { return end }
        if !requestor.defaultRedirectURL.isEmpty { return requestor.defaultRedirectURL }
        return "https://\(requestor.domains.first?.name ?? "localhost")/"
    }

    /// Below the requestor's `returnOrigin`.
    private static let signedOutPath = "/bridge/signed-out"
}

/// Passes on resets of trials that an upstream gives (bridge §10.1).
struct UpstreamResets: TrialResets {
    let caller: UpstreamCaller
    let store: any UpstreamStore
    let clock: any WallClock
    let logger: Logger

    func reset(
        _ scope: () throws(Fault) -> TrialScope, requestor: String, mvpd: String, in catalogue: Catalogue
    ) async throws(Fault) -> Int? {
        guard let way = catalogue.bridgeWay(requestor: requestor, mvpd: mvpd) else { return nil }
        return try await reset(try scope(), way)
    }

    /// - Returns: The number of sessions that ended with their trials.
    /// - Throws: `invalid_request` (upstream does not let us, or knows no such trial); `upstream_unavailable`, `too_many_requests`.
    func reset(_ scope: TrialScope, _ way: BridgeWay) async throws(Fault) -> Int {
        guard let management = way.upstream.management, let entry = way.upstream.client(management.clientID) else {
            throw Fault(.invalidRequest, "The trial is reset at the upstream.")
        }
        let who: (id: String?, device: DeviceID?, isOfPersons: Bool) =
            switch scope {
            case .all: (nil, nil, false)
            case .device(let device): (way.upstream.deviceForm.text(of: device.text), device, false)
            case .users: (nil, nil, true)
            case .user(let user): (user.text, nil, true)
            }
        let client = UpstreamClientAt(service: way.upstream, entry)
        do throws(UpstreamError) {
            try await caller.ask(
                .reset(way.serviceProvider, mvpd: way.theirMvpd, who: who.id, isOfPersons: who.isOfPersons), by: client, for: nil,
                UpstreamDeadline(way.upstream.totalTimeout)
            ) { answer throws(BridgeFailure) in try BridgedReset.check(answer) }
        } catch {
            guard case .failure(let failure) = error, failure.refusal != nil || failure.isBadRequest else { throw error.fault(clock.now()) }
            logger.error("bridge.reset_refused", metadata: ["upstream": "\(way.upstream.id)", "mvpd": "\(way.mvpd)", "reason": "\(failure)"])
            throw Fault(.invalidRequest, "The upstream service does not reset the trial.")
        }
        let ended = try await store.endTrials(requestor: RequestorID(way.requestor), mvpd: MvpdID(way.mvpd), device: who.device)
        caller.line.metrics.sessionsEnded(.reset, way.upstream.id, ended)
        return ended
    }
}

extension BridgeFailure {
    fileprivate var isBadRequest: Bool { if case .badRequest = self { true } else { false } }
}
