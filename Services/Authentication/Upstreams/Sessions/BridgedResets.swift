internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Logging

/// Passes on resets of trials that an upstream gives (bridge §10.1).
struct BridgedResets: TrialResets {
    let caller: BridgeCaller
    let store: any BridgeStore
    let clock: any WallClock
    let logger: Logger

    func reset(
        _ scope: () throws(Fault) -> TrialScope, requestor: String, mvpd: String, in catalogue: Catalogue
    ) async throws(Fault) -> Int? {
        guard let way = catalogue.bridgeWay(requestor: requestor, mvpd: mvpd) else { return nil }
        return try await reset(try scope(), way)
    }

    /// - Returns: How many sessions ended with their trials.
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
        let client = BridgeClientAt(service: way.upstream, entry)
        do throws(BridgeTrouble) {
            try await caller.ask(
                .reset(way.serviceProvider, mvpd: way.theirMvpd, who: who.id, isOfPersons: who.isOfPersons), by: client, for: nil,
                BridgePatience(way.upstream.totalTimeout)
            ) { answer throws(BridgeFailure) in try BridgedReset.check(answer) }
        } catch {
            guard case .failure(let failure) = error, failure.refusal != nil || failure.isBadRequest else { throw error.fault(clock.now()) }
            logger.error("bridge.reset_refused", metadata: ["upstream": "\(way.upstream.id)", "mvpd": "\(way.mvpd)", "reason": "\(failure)"])
            throw Fault(.invalidRequest, "The upstream service does not reset the trial.")
        }
        return try await store.endTrials(requestor: RequestorID(way.requestor), mvpd: MvpdID(way.mvpd), device: who.device)
    }
}

extension BridgeFailure {
    fileprivate var isBadRequest: Bool { if case .badRequest = self { true } else { false } }
}
