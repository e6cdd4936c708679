internal import BridgeClient
internal import Contracts
internal import Faults

/// Steps 9 and 10: decisions for a device that nobody is signed in on.
struct UpstreamDecisionCheck: Sendable {
    private static let many = 6

    let place: UpstreamCheckers.Place

    func walk(_ check: inout UpstreamCheck) async throws(Fault) {
        let bearer = try await place.bearer()
        let mvpd = try await place.mvpd(bearer)
        let device = place.freshDevice()
        var steps = UpstreamSteps()
        await authorize(bearer, mvpd, device, &steps)
        await preauthorize(bearer, mvpd, device, &steps)
        check.steps = steps.steps
    }

    private func authorize(_ bearer: String, _ mvpd: String, _ device: BridgeDevice, _ steps: inout UpstreamSteps) async {
        let title = "it permits nothing to a device without a login"
        let expected = "authenticated_profile_missing"
        let resource = place.requestor.id
        let answer = await place.probe.ask(.authorize(place.serviceProvider, mvpd: mvpd, resource: resource), bearer: bearer, for: device) {
            answer throws(BridgeFailure) in try BridgedDecision(answer, resource: resource)
        }
        let code: String
        switch answer.result {
        case .success(let decision):
            guard case .deny(let refusal) = decision.outcome else {
                return steps.failed(
                    9, title, expected: expected, seen: "a permit by \(decision.source.isEmpty ? "nobody knows whom" : decision.source)",
                    advice: "A degradation rule upstream permits everything; check again when it has ended.", trace: answer.trace)
            }
            code = refusal.code
        case .failure(.refused(let refusal)): code = refusal.code
        case .failure: return steps.failed(9, title, expected: expected, .authorize, answer)
        }
        guard code == expected else {
            return steps.failed(
                9, title, expected: expected, seen: code, advice: BridgeWords.advice(.authorize, .refused(BridgeRefusal(status: 403, code: code))),
                trace: answer.trace)
        }
        steps.passed(9, title, expected: expected, seen: code, trace: answer.trace)
    }

    private func preauthorize(_ bearer: String, _ mvpd: String, _ device: BridgeDevice, _ steps: inout UpstreamSteps) async {
        let title = "it takes several resources at once"
        let expected = "an answer about \(Self.many) resources, or that they are too many"
        let resources = (1...Self.many).map { "\(place.requestor.id)-CHECK-\($0)" }
        let answer = await place.probe.ask(.preauthorize(place.serviceProvider, mvpd: mvpd, resources: resources), bearer: bearer, for: device) {
            answer throws(BridgeFailure) in try BridgedDecision.all(answer)
        }
        switch answer.result {
        case .success(let decisions):
            let isTooMuch = decisions.contains { decision in
                if case .deny(let refusal) = decision.outcome, case .tooManyResources = BridgeMeaning(refusal) { true } else { false }
            }
            steps.passed(10, title, expected: expected, seen: Self.seen(isTooMuch), trace: answer.trace)
        case .failure(.refused(let refusal)) where BridgeMeaning(refusal) == .tooManyResources:
            steps.passed(10, title, expected: expected, seen: Self.seen(true), trace: answer.trace)
        case .failure: steps.failed(10, title, expected: expected, .preauthorize, answer)
        }
    }

    private static func seen(_ isTooMuch: Bool) -> String {
        isTooMuch ? "\(many) are too many: the bridge asks for \(PreauthorizationBatches.usual) at once" : "\(many) are not too many"
    }
}

/// Step 11: whether upstream counts calls by the addresses of devices, as X-Forwarded-For tells them.
struct UpstreamThrottleCheck: Sendable {
    /// Of documents: no device has them (RFC 5737).
    private static let addresses = ["192.0.2.17", "198.51.100.17"]
    private static let calls = 14

    let place: UpstreamCheckers.Place

    func walk(_ check: inout UpstreamCheck) async throws(Fault) {
        let bearer = try await place.bearer()
        let device = place.freshDevice()
        let title = "devices have budgets of their own"
        let expected = "\(Self.calls) calls for two addresses, and none that is too many"
        var steps = UpstreamSteps()
        defer { check.steps = steps.steps }
        var refused = 0
        for number in 0..<Self.calls {
            let headers = [("X-Forwarded-For", Self.addresses[number % Self.addresses.count])]
            let answer = await place.probe.ask(.profiles(place.serviceProvider), bearer: bearer, for: device, headers: headers, waits: false) {
                answer throws(BridgeFailure) in try BridgedProfile.all(answer)
            }
            if case .throttled? = answer.failure {
                refused += 1
            } else if answer.failure != nil {
                return steps.failed(11, title, expected: expected, .profiles, answer)
            }
        }
        guard refused == 0 else {
            return steps.failed(
                11, title, expected: expected, seen: "\(refused) of \(Self.calls) were too many: all devices together have one budget",
                advice: "Have this cluster's addresses allow-listed upstream, so that X-Forwarded-For counts.")
        }
        steps.passed(11, title, expected: expected, seen: "none of \(Self.calls) was too many")
    }
}
