internal import AuthenticationCore
internal import BridgeClient
internal import Clocks
internal import Faults
internal import Identifiers
internal import Logging

/// Logins that are one browser's alone (bridge §7.3).
extension UpstreamSignIns {
    /// Ends a login that another browser brings back than the one that confirmed it. A profile that it has made is nobody's.
    func refuse(_ pending: UpstreamPending) async throws(Fault) {
        guard pending.state != .done, pending.state != .refused, pending.state != .refusedUnseen else { return }
        try await store.settle(pending.handle, as: .refusedUnseen)
        logger.notice(
            "bridge.other_browser",
            metadata: ["upstream": "\(pending.upstream)", "requestor": "\(pending.key.requestor)", "mvpd": "\(pending.mvpd)"])
        caller.line.metrics.signInEnded(.otherBrowser, pending.upstream)
        metrics.signInEnded("rejected", reason: "other_browser")
        metrics.mvpds?.count(.bad, upstream: pending.upstream)
        if try await dismiss(what: pending, at: PendingReads.afterReturn, isBackground: false) == .nothing {
            try await store.settle(pending.handle, as: .refused)
        }
    }

    /// Looks after logins of one browser that nobody brought back, or brought back in another one while upstream was away; until it is cancelled.
    /// - Parameter isMine: True when it is this copy's turn.
    func resolve(isMine: @Sendable () async -> Bool) async {
        while (try? await Task.sleep(for: .seconds(20))) != nil {
            if await isMine() { await resolveOnce() }
        }
    }

    func resolveOnce() async {
        do throws(Fault) {
            for pending in try await store.unresolvedPendings(now: clock.now(), most: Self.mostResolved)
            where try await dismiss(what: pending, at: [.zero], isBackground: true) == .nothing {
                try await store.settle(pending.handle, as: pending.expiresAt <= clock.now() ? .done : .refused)
            }
        } catch {
            logger.debug("bridge.logins_not_resolved", metadata: ["reason": "\(error)"])
        }
    }

    private static let mostResolved = 16

    private enum Dismissal {
        case done
        case nothing
        case away
    }

    /// Has upstream forget the profile that a login made.
    private func dismiss(what pending: UpstreamPending, at moments: [Duration], isBackground: Bool) async throws(Fault) -> Dismissal {
        guard let way = way(of: pending) else { return .nothing }
        let device = BridgeDevice(pending.key.device, pending.device, userAgent: pending.userAgent)
        let begin = ContinuousClock.now
        for moment in moments {
            let rest = moment - begin.duration(to: .now)
            if rest > .zero { try? await Task.sleep(for: rest) }
            let found: [BridgedProfile]
            do throws(UpstreamError) {
                found = try await caller.ask(
                    .profile(pending.serviceProvider, mvpd: pending.theirMvpd), by: way.client, for: device,
                    UpstreamDeadline(way.upstream.totalTimeout, isBackground: isBackground)
                ) { answer throws(BridgeFailure) in try BridgedProfile.all(answer) }
            } catch {
                if case .clientLost = error { return .nothing }
                return error.refusal == nil ? .away : .nothing
            }
            let now = clock.now()
            let mine = found.first { $0.mvpd == pending.theirMvpd && $0.end > now && UpstreamConfirmations.mayComeOf(pending, $0) }
            guard let profile = mine else { continue }
            let part = try profiles.session(of: profile, for: Self.holder(pending, way.upstream, nil), now: now).part
            try await confirmations.dismiss(part, of: [pending], now: now)
            tell("not_confirmed", part)
            return .done
        }
        return .nothing
    }
}
