internal import AuthenticationCore
internal import BridgeClient
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import MediaTokenVerifier
internal import StrictJson

/// Step 12: a person signs in, plays and signs out.
struct UpstreamSignInCheck: Sendable {
    private static let owner = SessionID("bridge check")
    private static let largestTicket = 8192

    let place: UpstreamCheckers.Place

    /// The sealed data that the end of the sign-in needs: any copy of the service can end it.
    private struct Ticket {
        let upstream: String
        let requestor: String
        let mvpd: String
        let device: String
        let code: String
        let end: Timestamp

        var text: String {
            "[\([upstream, requestor, mvpd, device, code, "\(end.milliseconds)"].map { JsonWriter.quoted($0) }.joined(separator: ","))]"
        }

        init(upstream: String, requestor: String, mvpd: String, device: String, code: String, end: Timestamp) {
            (self.upstream, self.requestor, self.mvpd, self.device, self.code, self.end) = (upstream, requestor, mvpd, device, code, end)
        }

        init?(_ text: String) {
            guard case .array(let nodes)? = try? JsonDocument(parsing: Array(text.utf8)).root.content else { return nil }
            let parts = nodes.compactMap { node -> String? in if case .string(let part) = node.content { part } else { nil } }
            guard parts.count == 6, let end = Int64(parts[5]) else { return nil }
            self.init(
                upstream: parts[0], requestor: parts[1], mvpd: parts[2], device: parts[3], code: parts[4], end: Timestamp(milliseconds: end))
        }
    }

    // MARK: Begin

    func begin(_ check: inout UpstreamCheck) async throws(Fault) {
        let bearer = try await place.bearer()
        let mvpd = try await place.mvpd(bearer)
        let device = place.freshDevice()
        let title = "it begins a login that a person ends"
        let expected = "an address for a browser"
        var steps = UpstreamSteps()
        defer { check.steps = steps.steps }
        let answer = await place.probe.ask(place.creation(mvpd, to: place.returnAddress), bearer: bearer, for: device) {
            answer throws(BridgeFailure) in try BridgedSignIn(answer)
        }
        guard case .browser(let path, let code, let end)? = answer.value else {
            guard answer.value == nil else {
                return steps.failed(
                    12, title, expected: expected, seen: "no login is needed", advice: "Check again when upstream's rule has ended.",
                    trace: answer.trace)
            }
            return steps.failed(12, title, expected: expected, .create, answer)
        }
        guard let url = place.upstream.browserAddresses.absolute(path) else {
            return steps.failed(
                12, title, expected: expected, seen: "an address at another host", advice: "Name the host in browserHosts.", trace: answer.trace)
        }
        let ticket = Ticket(
            upstream: place.upstream.id, requestor: place.requestor.id, mvpd: mvpd, device: device.id, code: code, end: end)
        check.browserAddress = url
        check.ticket = Base64.url.encode(try place.checkers.seal.close(ProviderSecret(ticket.text), of: Self.owner))
        steps.passed(12, title, expected: expected, seen: "a login at \(mvpd)", trace: answer.trace)
    }

    // MARK: End

    func end(_ request: CheckUpstreamRequest, _ check: inout UpstreamCheck) async throws(Fault) {
        guard request.ticket.utf8.count <= Self.largestTicket, let octets = Base64.url.decode(request.ticket),
            let text = place.checkers.seal.open(octets, of: Self.owner, as: ProviderSecret.self)?.text, let ticket = Ticket(text),
            ticket.upstream == place.upstream.id, ticket.requestor == place.requestor.id
        else { throw Fault(.invalidRequest, "The ticket is of no sign-in at the upstream.") }
        let keys = try Self.keys(request.certificate)
        let bearer = try await place.bearer()
        let device = SampleDevice.device(ticket.device, place.platform)
        var steps = UpstreamSteps()
        defer { check.steps = steps.steps }
        let answer = await place.probe.ask(.profile(place.serviceProvider, code: ticket.code), bearer: bearer, for: device) {
            answer throws(BridgeFailure) in try BridgedProfile.all(answer)
        }
        let title = "it tells who signed in"
        let expected = "a profile of \(ticket.mvpd)"
        guard let found = answer.value else { return steps.failed(12, title, expected: expected, .byCode, answer) }
        guard let profile = found.first(where: { $0.mvpd == ticket.mvpd }) else {
            check.isOpen = place.checkers.clock.now() < ticket.end
            guard !check.isOpen else { return }
            return steps.failed(12, title, expected: expected, seen: "nobody", advice: "Sign in before the session is over.", trace: answer.trace)
        }
        let names = profile.attributes.map { "\($0.name) \($0.isEncrypted ? "encrypted" : "plain")" }.sorted()
        steps.passed(
            12, title, expected: expected, seen: "a profile of type \(profile.kind.rawValue); attributes \(names.joined(separator: ", "))",
            trace: answer.trace)
        let resource = request.resource.isEmpty ? place.requestor.id : request.resource
        let first = await decide(resource, bearer, ticket, device, profile, keys, &steps)
        if let first { await decideAgain(resource, bearer, ticket, device, first, &steps) }
        await signOut(bearer, ticket, device, &steps)
    }

    /// - Throws: `invalid_request` for what is no certificate.
    private static func keys(_ pem: String) throws(Fault) -> TrustedMediaTokenKeys? {
        guard !pem.isEmpty else { return nil }
        do {
            return try TrustedMediaTokenKeys(certificates: [try Certificate(pem: pem)])
        } catch {
            throw Fault(.invalidRequest, "The certificate cannot be used: \(error)")
        }
    }

    /// - Returns: The media token of a permit.
    private func decide(
        _ resource: String, _ bearer: String, _ ticket: Ticket, _ device: BridgeDevice, _ profile: BridgedProfile, _ keys: TrustedMediaTokenKeys?,
        _ steps: inout UpstreamSteps
    ) async -> String? {
        let title = "it permits, with a media token"
        let expected = "a permit for \(resource)"
        let answer = await ask(resource, bearer, ticket, device)
        guard let decision = answer.value else {
            steps.failed(12, title, expected: expected, .authorize, answer)
            return nil
        }
        guard let token = decision.token, case .permit = decision.outcome else {
            if case .deny(let refusal) = decision.outcome {
                steps.failed(
                    12, title, expected: expected, seen: refusal.code, advice: "--resource names what the person may watch.", trace: answer.trace)
            }
            return nil
        }
        steps.passed(12, title, expected: expected, seen: "a permit by \(decision.source)", trace: answer.trace)
        judge(token.serialized, resource, profile, keys, &steps)
        return token.serialized
    }

    private func ask(_ resource: String, _ bearer: String, _ ticket: Ticket, _ device: BridgeDevice) async -> UpstreamProbe.Answer<BridgedDecision> {
        await place.probe.ask(.authorize(place.serviceProvider, mvpd: ticket.mvpd, resource: resource), bearer: bearer, for: device) {
            answer throws(BridgeFailure) in try BridgedDecision(answer, resource: resource)
        }
    }

    private func judge(
        _ token: String, _ resource: String, _ profile: BridgedProfile, _ keys: TrustedMediaTokenKeys?, _ steps: inout UpstreamSteps
    ) {
        let title = "its media token is a verifier's to read"
        let expected = keys == nil ? "a token for \(place.serviceProvider) and \(resource)" : "a token that the certificate verifies"
        let check = MediaTokenVerifier(trustedKeys: keys ?? TrustedMediaTokenKeys()).verify(
            token, requestor: place.serviceProvider, resource: resource)
        guard let facts = check.facts else {
            return steps.failed(
                12, title, expected: expected, seen: "a token of another form",
                advice: "Programmers' verifiers must know it; the bridge passes it on.")
        }
        let told = "a token of \(facts.mvpd) for \(facts.requestor), \(facts.ttl.components.seconds) s"
        let person = profile[attribute: "userID"].map { attribute -> String in
            guard let plain = attribute.plainText else { return "; userID is encrypted" }
            return plain == facts.sessionGUID ? "; sessionGUID is userID" : "; sessionGUID is not userID"
        }
        let seen = told + (person ?? "; there is no userID")
        guard keys != nil else { return steps.passed(12, title, expected: expected, seen: "\(seen); the signature was not checked (--certificate)") }
        guard check.verdict == .valid else {
            return steps.failed(
                12, title, expected: expected, seen: "\(seen); \(check.verdict.rawValue)",
                advice: "Verifiers need the certificate that upstream signs with now.")
        }
        steps.passed(12, title, expected: expected, seen: "\(seen); the signature is good")
    }

    private func decideAgain(
        _ resource: String, _ bearer: String, _ ticket: Ticket, _ device: BridgeDevice, _ first: String, _ steps: inout UpstreamSteps
    ) async {
        let title = "each play has a media token of its own"
        let answer = await ask(resource, bearer, ticket, device)
        guard let decision = answer.value else { return steps.failed(12, title, expected: "another token", .authorize, answer) }
        guard let token = decision.token, token.serialized != first else {
            return steps.failed(
                12, title, expected: "another token", seen: decision.token == nil ? "no token" : "the same one",
                advice: "Verifiers that know tokens they have seen would refuse the second play.", trace: answer.trace)
        }
        steps.passed(12, title, expected: "another token", seen: "another one", trace: answer.trace)
    }

    private func signOut(_ bearer: String, _ ticket: Ticket, _ device: BridgeDevice, _ steps: inout UpstreamSteps) async {
        let title = "a logout ends the profile"
        let call = BridgeCall.logout(place.serviceProvider, mvpd: ticket.mvpd, redirectURL: place.returnAddress)
        let logout = await place.probe.ask(call, bearer: bearer, for: device) { answer throws(BridgeFailure) in
            try BridgedLogout(answer, mvpd: ticket.mvpd)
        }
        guard logout.value != nil else { return steps.failed(12, title, expected: "no profile", .logout, logout) }
        let answer = await place.probe.ask(.profiles(place.serviceProvider), bearer: bearer, for: device) { answer throws(BridgeFailure) in
            try BridgedProfile.all(answer)
        }
        guard let left = answer.value else { return steps.failed(12, title, expected: "no profile", .profiles, answer) }
        guard left.isEmpty else {
            return steps.failed(
                12, title, expected: "no profile", seen: "one is left", advice: "Ask the upstream's operator: people would stay signed in there.",
                trace: answer.trace)
        }
        steps.passed(12, title, expected: "no profile", seen: "none is left", trace: answer.trace)
    }
}
