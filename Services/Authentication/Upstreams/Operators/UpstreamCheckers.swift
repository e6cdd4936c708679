internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers

/// Checks an upstream part by part, for an operator (bridge §15.3).
struct UpstreamCheckers: Sendable {
    let line: UpstreamConnection
    let slots: UpstreamSlots
    let catalogue: any CatalogueSource
    let seal: TokenSeal
    let clock: any WallClock
    let random: any RandomSource

    /// - Throws: As the contract says.
    func check(_ request: CheckUpstreamRequest) async throws(Fault) -> UpstreamCheck {
        let place = try place(request)
        var check = UpstreamCheck(requestor: place.requestor.id)
        switch request.part {
        case .client: await UpstreamClientCheck(place: place).walk(&check)
        case .session: try await UpstreamSessionCheck(place: place).walk(&check)
        case .decision: try await UpstreamDecisionCheck(place: place).walk(&check)
        case .throttle: try await UpstreamThrottleCheck(place: place).walk(&check)
        case .signIn: try await UpstreamSignInCheck(place: place).begin(&check)
        case .signedIn: try await UpstreamSignInCheck(place: place).end(request, &check)
        case .unknown, .unrecognized: throw Fault(.invalidRequest, "The part of the check is not known.")
        }
        return check
    }

    private func place(_ request: CheckUpstreamRequest) throws(Fault) -> Place {
        let catalogue = try catalogue.current()
        guard let upstream = catalogue.upstream(request.upstream) else { throw Fault(.notFound, "There is no such upstream.") }
        let users = catalogue.configuration.requestors.filter { $0.bridge?.upstreamID == upstream.id }
        guard let requestor = request.requestor.isEmpty ? users.first : users.first(where: { $0.id == request.requestor }),
            let bridge = requestor.bridge
        else {
            guard request.requestor.isEmpty else { throw Fault(.notFound, "The requestor does not use the upstream.") }
            throw Fault(.invalidRequest, "No requestor uses the upstream: give one its 'upstream', and push.")
        }
        let served = SampleDevice.platforms.compactMap { platform in
            upstream.client(requestor: requestor.id, platform: platform).map { (platform, $0) }
        }
        guard let first = served.first else { throw Fault(.invalidRequest, "None of the upstream's clients serves the requestor.") }
        return Place(
            checkers: self, catalogue: catalogue, upstream: upstream, requestor: requestor, bridge: bridge, entry: first.1, platform: first.0,
            platforms: served.map(\.0))
    }

    /// The object of a check.
    struct Place: Sendable {
        let checkers: UpstreamCheckers
        let catalogue: Catalogue
        let upstream: BridgeUpstream
        let requestor: Requestor
        let bridge: RequestorBridge
        let entry: BridgeClientEntry
        let platform: Platform
        let platforms: [Platform]

        var probe: UpstreamProbe { UpstreamProbe(line: checkers.line, upstream: upstream) }
        var serviceProvider: String { bridge.serviceProvider }

        /// One that nobody has.
        func freshDevice() -> BridgeDevice { SampleDevice.device("boxoffice-check-\(checkers.random.uuid())", platform) }

        /// MVPDs that an upstream serves at the requestor, by its names; in catalogue order.
        var theirMvpds: [String] {
            catalogue.bridgedIntegrations(requestor: requestor.id).compactMap {
                catalogue.bridgeWay(requestor: requestor.id, mvpd: $0.mvpdID)?.theirMvpd
            }
        }

        /// The client of the check, with the statement of now.
        func client() async throws(UpstreamError) -> UpstreamClientAt {
            let client = UpstreamClientAt(service: upstream, entry)
            guard let statement = try await checkers.slots.statement(client) else {
                throw .failure(.refused(BridgeRefusal(status: 0, code: "statement_missing")))
            }
            return UpstreamClientAt(check: upstream, entry, statement: statement)
        }

        /// A bearer for a part that comes after the first.
        /// - Throws: `upstream_unavailable`: the first part says why.
        func bearer() async throws(Fault) -> String {
            do throws(UpstreamError) {
                return try await checkers.slots.bearer(try await client(), for: nil, UpstreamDeadline(upstream.totalTimeout)).token
            } catch {
                throw error.fault(checkers.clock.now())
            }
        }

        /// One of the MVPDs that people sign in at.
        /// - Throws: `upstream_unavailable`, `invalid_request` where there is none.
        func mvpd(_ bearer: String) async throws(Fault) -> String {
            let answer = await probe.ask(.list(serviceProvider), bearer: bearer, for: SampleDevice.device("", platform)) {
                answer throws(BridgeFailure) in try BridgedList(answer)
            }
            let list: BridgedList
            do throws(BridgeFailure) { list = try answer.result.get() } catch { throw error.fault() }
            let usual = list.providers.filter { !$0.isTemporaryPass }.map(\.id)
            if let ours = theirMvpds.first(where: { mvpd in usual.contains { $0 == mvpd } }) { return ours }
            guard bridge.everyMvpd, let first = usual.first else {
                throw Fault(.invalidRequest, "None of the requestor's integrations with an upstream is in its list.")
            }
            return first
        }
    }
}

extension UpstreamCheckers: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.checkUpstream) { request, _ in try await check(request) }
    }
}

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
                9, title, expected: expected, seen: code, advice: UpstreamWords.advice(.authorize, .refused(BridgeRefusal(status: 403, code: code))),
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
    /// Addresses for documentation: no device has them (RFC 5737).
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
