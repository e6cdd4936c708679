internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import OutboundHttp
internal import StrictJson
internal import Tokens

/// The sign-in at the identity provider: there and back.
struct ProviderSignInPages: Sendable {
    static let startPath = Console.path + "/sign-in/provider"
    static let returnPath = Console.path + "/sign-in/return"
    /// The parameter of an address that was corrected once.
    private static let corrected = "at"

    let console: Console
    let provider: OpenIDProvider

    static func address(returningTo target: String) -> String {
        let own = ConsoleAddress.own(target)
        return own == Console.path ? startPath : Console.address("sign-in", "provider", query: ["to": own])
    }

    @Sendable func start(_ exchange: Exchange) async throws -> Response {
        let target = ConsoleAddress.own(try exchange.value("to") ?? "")
        // The cookie is of one host, and the provider knows one: whoever came by another name goes there first.
        let home = provider.settings.origin
        if !home.hasSuffix("://" + exchange.authority.lowercased()), try exchange.value(Self.corrected) == nil {
            return Console.seeOther(home + Console.address("sign-in", "provider", query: ["to": target, Self.corrected: "1"]))
        }
        let proof = ProviderProof(returningTo: target)
        do throws(ProviderRejection) {
            var response = Console.seeOther(try await provider.address(proof))
            cookie(exchange).set(proof, in: &response)
            return response
        } catch { return refused(error, target, exchange) }
    }

    @Sendable func finish(_ exchange: Exchange) async throws -> Response {
        let state = try exchange.value("state") ?? ""
        guard let proof = cookie(exchange).proof(in: exchange) else { return refused(ProviderRejection(.stale, "cookie"), Console.path, exchange) }
        guard proof.isOwn(state: state) else { return refused(ProviderRejection(.stale, "state"), Console.path, exchange) }
        var response: Response
        do throws(ProviderRejection) {
            response = try await signIn(try code(exchange), proof, exchange)
        } catch { response = refused(error, proof.target, exchange) }
        // Once, whatever came of it.
        cookie(exchange).clear(in: &response)
        return response
    }

    private func code(_ exchange: Exchange) throws(ProviderRejection) -> String {
        let value = { (name: String) in (try? exchange.value(name)) ?? nil }
        if let issuer = value("iss"), issuer != provider.settings.issuer {
            throw ProviderRejection(.unacceptable, "issuer", "The answer is of another issuer.")
        }
        if let error = value("error") {
            let word = error.filter { $0.isASCII && ($0.isLetter || $0 == "_") }.prefix(40)
            throw word == "access_denied"
                ? ProviderRejection(.declined, "declined") : ProviderRejection(.misconfigured, "authorize.refused", "The provider refused: \(word).")
        }
        guard let code = value("code"), !code.isEmpty else { throw ProviderRejection(.unacceptable, "code", "The provider's answer has no code.") }
        return code
    }

    private func signIn(_ code: String, _ proof: ProviderProof, _ exchange: Exchange) async throws(ProviderRejection) -> Response {
        let person = try await provider.person(code, proof)
        let request = OpenSessionRequest(client: exchange.facts.clientAddress.text, person: person)
        let session: OpenedSession
        do { session = try await console.administration.openSession(request, context: exchange.changingCall) } catch {
            throw Self.refusal(error, person)
        }
        // The session's cookie stays at home on the way from another site, so that the page leads there by itself.
        var response = Console.html(
            console.dependencies.pages, "carry", ["arriving": ["arrivingAddress": proof.target], "title": "You are signed in"], status: .ok)
        ConsoleCookie(console.dependencies.settings, exchange).set(session, in: &response)
        return response
    }

    private static func refusal(_ error: any Error, _ person: SignedInPerson) -> ProviderRejection {
        guard let fault = error as? Fault, fault.code == .accessDenied || fault.code == .invalidRequest else {
            return ProviderRejection(.away, "config")
        }
        return ProviderRejection(
            .misconfigured, "session",
            "config opens no session for '\(person.name)': config.sessionCallers must name the gateway, and config.administrators nobody of that name."
        )
    }

    private func cookie(_ exchange: Exchange) -> ProviderCookie { ProviderCookie(ConsoleCookie(console.dependencies.settings, exchange)) }

    private func refused(_ refusal: ProviderRejection, _ target: String, _ exchange: Exchange) -> Response {
        exchange.logger.notice("console.sign_in_refused", metadata: ["reason": "\(refusal.code)"])
        var content: [String: Any] = [
            "title": "Not signed in", refusal.kind.rawValue: true, "providerName": provider.settings.name, "code": refusal.code,
            "againAddress": Self.address(returningTo: target), "tokenAddress": ConsoleSignInPages.address(returningTo: target),
            "trace": exchange.facts.trace.traceID,
        ]
        if !refusal.words.isEmpty { content["words"] = refusal.words }
        return Console.html(console.dependencies.pages, "sign-in-refused", content, status: refusal.kind == .away ? .serviceUnavailable : .forbidden)
    }
}

extension OpenIDSettings {
    /// The provider sends browsers back here.
    var redirectURI: String { origin + ProviderSignInPages.returnPath }
}

/// The result of a person's claims.
struct ProviderMapping: Sendable {
    let settings: OpenIDSettings

    /// The highest of the roles counts, and the programmers of all values together.
    /// - Parameter subject: `sub`, verified.
    /// - Throws: `unmapped`, naming the claim that was missing or had no value that is mapped.
    func person(_ claims: ProviderClaims, subject: String) throws(ProviderRejection) -> SignedInPerson {
        let roles = try mapped(settings.roleClaim, settings.roles, "role", in: claims)
        let name = name(claims, subject)
        if roles.contains(.operator) { return SignedInPerson(name: name, role: .operator) }
        let programmers = try mapped(settings.programmerClaim, settings.programmers, "programmer", in: claims)
        let ids = programmers.reduce(into: [String]()) { all, ids in all += ids.filter { !all.contains($0) } }
        guard ids.count <= 100 else {
            throw ProviderRejection(.unmapped, "claims.programmers", "More than 100 programmers are mapped; make it an operator.")
        }
        return SignedInPerson(name: name, role: roles.contains(.editor) ? .editor : .viewer, programmerIDs: ids)
    }

    /// An address of mail that nobody verified could be somebody else's. Two people may have the same value of any other claim, and the name
    /// identifies drafts. So the subject, which is one person's (OpenID Connect Core §2), stands behind it.
    private func name(_ claims: ProviderClaims, _ subject: String) -> String {
        let subject = String(subject.prefix(255))
        let claimed = settings.nameClaim == "email" && !claims.isTrue("email_verified") ? nil : claims.text(settings.nameClaim)
        guard let claimed, (1...255).contains(claimed.count), !claimed.contains(where: \.isNewline) else { return subject }
        if settings.nameClaim == "email" || settings.nameClaim == "sub" { return claimed }
        let room = 255 - subject.count - 3
        return room > 0 ? "\(claimed.prefix(room)) (\(subject))" : subject
    }

    private func mapped<Meaning>(
        _ claim: String, _ mapping: [String: Meaning], _ noun: String, in claims: ProviderClaims
    ) throws(ProviderRejection) -> [Meaning] {
        guard let values = claims.values(claim) else {
            throw ProviderRejection(.unmapped, "claims.missing", "The identity token has no claim '\(claim)', so that you have no \(noun) here.")
        }
        let meanings = values.compactMap { value in mapping.first { $0.key == value }?.value }
        guard !meanings.isEmpty else {
            let shown = values.prefix(10).map { "'\($0.prefix(60))'" }.joined(separator: ", ")
            let what = values.isEmpty ? "has no value" : "says \(shown), and none of it is mapped to a \(noun) here"
            throw ProviderRejection(.unmapped, "claims.\(noun)", "The claim '\(claim)' \(what).")
        }
        return meanings
    }
}

/// A JSON object that the identity provider sent. One with a member twice is refused: two readers could take it for two things.
struct ProviderClaims: Sendable {
    private let members: [OctetText: JsonNode]

    /// - Returns: `nil` unless the text is one JSON object whose members all differ.
    init?(json: [UInt8]) {
        guard let document = try? JsonDocument(parsing: json), let members = Self.members(document.root) else { return nil }
        self.members = members
    }

    /// A member that is a text.
    func text(_ name: String) -> String? {
        if case .string(let text) = members[name]?.content { text } else { nil }
    }

    func isTrue(_ name: String) -> Bool {
        switch members[name]?.content {
        case .bool(let isTrue): isTrue
        // As some providers write it.
        case .string(let text): text == "true"
        default: false
        }
    }

    /// The texts of a claim: of a text that one, of a list those in it.
    /// - Parameter path: A name as it is, or names with dots between that lead into objects.
    /// - Returns: `nil` when there is no such claim.
    func values(_ path: String) -> [String]? {
        var node = members[path]
        if node == nil {
            var inner: [OctetText: JsonNode]? = members
            for name in path.split(separator: ".", omittingEmptySubsequences: false) {
                node = inner?[String(name)]
                inner = node.flatMap(Self.members)
            }
        }
        guard let node else { return nil }
        switch node.content {
        case .string(let text): return [text]
        case .array(let list): return list.compactMap { if case .string(let text) = $0.content { text } else { nil } }
        default: return []
        }
    }

    private static func members(_ node: JsonNode) -> [OctetText: JsonNode]? {
        guard case .object(let list) = node.content else { return nil }
        var members: [OctetText: JsonNode] = [:]
        for member in list {
            guard members.updateValue(member.value, forKey: member.name) == nil else { return nil }
        }
        return members
    }
}

/// Nobody is signed in by the identity provider for this reason: for the page, the log and whoever sets it up. Nothing in it is secret.
struct ProviderRejection: Error, Hashable, Sendable {
    /// The page's advice.
    enum Kind: String, Sendable {
        /// The browser brings no sign-in that is under way: used, too old, begun elsewhere.
        case stale
        /// The person declined.
        case declined
        /// The provider does not answer.
        case away
        /// The provider's answer fails a check.
        case unacceptable
        /// The person is known there, and nothing here.
        case unmapped
        /// Settings of gateway, config and provider do not fit together.
        case misconfigured
    }

    let kind: Kind
    /// One word for the log, such as `idtoken.wrongNonce`.
    let code: String
    /// For the page; empty: the kind says all.
    let words: String

    init(_ kind: Kind, _ code: String, _ words: String = "") {
        self.kind = kind
        self.code = code
        self.words = words
    }

    init(_ endpoint: String, _ failure: OutboundFailure) { self.init(.away, "\(endpoint).\(failure.kind.rawValue)") }

    /// The failure of an identity token.
    init(_ rejection: TokenRejection) {
        let words =
            switch rejection {
            case .malformed: "The identity token is no signed token with issuer, subject, audience and times."
            case .wrongType: "The identity token is of another type."
            case .wrongAlgorithm: "The identity token must be signed with RS256, PS256 or ES256, by a key that is for it."
            case .unknownKey: "The key that signed the identity token is none of those that the provider publishes."
            case .invalidSignature: "The signature of the identity token is wrong."
            case .wrongIssuer: "The identity token is of another issuer."
            case .wrongAudience: "The identity token is for another client."
            case .wrongParty: "The identity token was made for another client (azp)."
            case .wrongNonce: "The identity token answers another sign-in."
            case .notYetValid: "The identity token is from the future: the clocks of provider and gateway differ."
            case .expired: "The identity token has expired, or the clocks of provider and gateway differ."
            }
        self.init(.unacceptable, "idtoken.\(rejection.rawValue)", words)
    }
}
