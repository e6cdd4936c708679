internal import AuthenticationCore
internal import BridgeClient
internal import Clocks
internal import Contracts
internal import Faults

/// Steps 5 to 8: a session that nobody uses.
struct UpstreamSessionCheck: Sendable {
    private static let titles: [(step: UInt32, title: String)] = [
        (5, "it begins a login that ends at our address"), (6, "it understood the device"), (7, "a browser may go where it sends it"),
        (8, "nobody is signed in on a device that is new"),
    ]

    let place: UpstreamCheckers.Place

    func walk(_ check: inout UpstreamCheck) async throws(Fault) {
        let bearer = try await place.bearer()
        let mvpd = try await place.mvpd(bearer)
        let device = place.freshDevice()
        var steps = UpstreamSteps()
        defer { check.steps = steps.steps }
        guard let (path, code) = await create(bearer, mvpd, device, &steps) else {
            steps.notReached(Array(Self.titles[1...2]))
            return await profiles(bearer, device, &steps)
        }
        await read(bearer, mvpd, code, &steps)
        await visit(path, &steps)
        await profiles(bearer, device, &steps)
    }

    private func create(_ bearer: String, _ mvpd: String, _ device: BridgeDevice, _ steps: inout UpstreamSteps) async -> (path: String, code: String)?
    {
        let title = Self.titles[0].title
        let address = place.returnAddress
        let expected = "a login at \(mvpd) that ends at \(address)"
        let answer = await place.probe.ask(place.creation(mvpd, to: address), bearer: bearer, for: device) { answer throws(BridgeFailure) in
            try BridgedSignIn(answer)
        }
        switch answer.value {
        case .browser(let path, let code, let end)?:
            let minutes = (end - place.checkers.clock.now()).components.seconds / 60
            steps.passed(5, title, expected: expected, seen: "a session of \(minutes) minutes", trace: answer.trace)
            return (path, code)
        case .done?:
            steps.failed(
                5, title, expected: expected, seen: "the device is signed in already",
                advice: "A degradation rule upstream lets everybody in; check again when it has ended.", trace: answer.trace)
        case .incomplete(let missing)?:
            steps.failed(
                5, title, expected: expected, seen: "it still wants \(missing.joined(separator: ", "))",
                advice: "Register the requestor's domain upstream, or map it by domainNames.", trace: answer.trace)
        case .partner?:
            steps.failed(5, title, expected: expected, seen: "a platform's sign-in", advice: "Ask the upstream's operator.", trace: answer.trace)
        case nil: steps.failed(5, title, expected: expected, .create, answer)
        }
        return nil
    }

    private func read(_ bearer: String, _ mvpd: String, _ code: String, _ steps: inout UpstreamSteps) async {
        let title = Self.titles[1].title
        let expected = "the model \(SampleDevice.model), the MVPD \(mvpd)"
        let answer = await place.probe.ask(.readSession(place.serviceProvider, code: code), bearer: bearer, for: nil) {
            answer throws(BridgeFailure) in
            try BridgedSessionView(answer)
        }
        guard let view = answer.value else { return steps.failed(6, title, expected: expected, .readSession, answer) }
        let model = view.device["model"] ?? ""
        let seen = "the model \(model.isEmpty ? "none" : model), the type \(view.device["type"] ?? "none"), the MVPD \(view.mvpd)"
        guard model == SampleDevice.model, view.mvpd == mvpd else {
            return steps.failed(
                6, title, expected: expected, seen: seen,
                advice: "X-Device-Info does not arrive as it was sent: ask the upstream's operator; home-based login needs it.", trace: answer.trace)
        }
        steps.passed(6, title, expected: expected, seen: seen, trace: answer.trace)
    }

    private func visit(_ path: String, _ steps: inout UpstreamSteps) async {
        let title = Self.titles[2].title
        let expected = "an address at baseUrl, userAgentBaseUrl or one of browserHosts, that leads on"
        guard let url = place.upstream.browserAddresses.absolute(path) else {
            return steps.failed(
                7, title, expected: expected, seen: "an address at another host\(Self.host(path))",
                advice: "Name the host in browserHosts, if it is the upstream's own.")
        }
        let answer = await place.probe.visit(url)
        guard let status = answer.value else { return steps.failed(7, title, expected: expected, .create, answer) }
        let seen = "\(status)\(Self.host(url))"
        guard (200..<400).contains(status) else {
            let advice =
                status == 429
                ? "Too many visits at once: --throttle tries whether devices have budgets of their own."
                : "A browser would see an error: ask the upstream's operator."
            return steps.failed(7, title, expected: expected, seen: seen, advice: advice)
        }
        steps.passed(7, title, expected: expected, seen: seen)
    }

    /// The address holds upstream's code; its host is all that is told.
    private static func host(_ url: String) -> String { RedirectAddress(url).map { " at \($0.host)" } ?? "" }

    private func profiles(_ bearer: String, _ device: BridgeDevice, _ steps: inout UpstreamSteps) async {
        let title = Self.titles[3].title
        let answer = await place.probe.ask(.profiles(place.serviceProvider), bearer: bearer, for: device) { answer throws(BridgeFailure) in
            try BridgedProfile.all(answer)
        }
        guard let found = answer.value else { return steps.failed(8, title, expected: "no profile", .profiles, answer) }
        guard found.isEmpty else {
            return steps.failed(
                8, title, expected: "no profile", seen: "profiles of \(found.map(\.mvpd).prefix(5).joined(separator: ", "))",
                advice: "Upstream does not tell devices apart: AP-Device-Identifier must arrive as it was sent.", trace: answer.trace)
        }
        steps.passed(8, title, expected: "no profile", seen: "none", trace: answer.trace)
    }
}

extension UpstreamCheckers.Place {
    /// Where a login of the check ends: as one of a viewer's would.
    var returnAddress: String {
        if !bridge.returnOrigin.isEmpty { return bridge.returnOrigin + UpstreamSignIns.returnPath + "check" }
        if !requestor.defaultRedirectURL.isEmpty { return requestor.defaultRedirectURL }
        return "https://\(requestor.domains.first?.name ?? "localhost")/"
    }

    func creation(_ mvpd: String, to address: String) -> BridgeCall {
        let domain = requestor.domains.first?.name ?? ""
        let theirs = bridge.domainNames.first { $0.ours == domain }?.theirs ?? domain
        return .create(serviceProvider, mvpd: mvpd, domainName: theirs, redirectURL: address)
    }
}
