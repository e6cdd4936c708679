internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The sign-in at the identity provider: there and back.
struct ProviderSignInPages: Sendable {
    static let startPath = Console.path + "/sign-in/provider"
    static let returnPath = Console.path + "/sign-in/return"
    /// Of an address that was corrected once.
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
        do throws(ProviderRefusal) {
            var response = Console.seeOther(try await provider.address(proof))
            cookie(exchange).set(proof, in: &response)
            return response
        } catch { return refused(error, target, exchange) }
    }

    @Sendable func finish(_ exchange: Exchange) async throws -> Response {
        let state = try exchange.value("state") ?? ""
        guard let proof = cookie(exchange).proof(in: exchange) else { return refused(ProviderRefusal(.stale, "cookie"), Console.path, exchange) }
        guard proof.isOwn(state: state) else { return refused(ProviderRefusal(.stale, "state"), Console.path, exchange) }
        var response: Response
        do throws(ProviderRefusal) {
            response = try await signIn(try code(exchange), proof, exchange)
        } catch { response = refused(error, proof.target, exchange) }
        // Once, whatever came of it.
        cookie(exchange).clear(in: &response)
        return response
    }

    private func code(_ exchange: Exchange) throws(ProviderRefusal) -> String {
        let value = { (name: String) in (try? exchange.value(name)) ?? nil }
        if let issuer = value("iss"), issuer != provider.settings.issuer {
            throw ProviderRefusal(.unacceptable, "issuer", "The answer is of another issuer.")
        }
        if let error = value("error") {
            let word = error.filter { $0.isASCII && ($0.isLetter || $0 == "_") }.prefix(40)
            throw word == "access_denied"
                ? ProviderRefusal(.declined, "declined") : ProviderRefusal(.misconfigured, "authorize.refused", "The provider refused: \(word).")
        }
        guard let code = value("code"), !code.isEmpty else { throw ProviderRefusal(.unacceptable, "code", "The provider's answer has no code.") }
        return code
    }

    private func signIn(_ code: String, _ proof: ProviderProof, _ exchange: Exchange) async throws(ProviderRefusal) -> Response {
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

    private static func refusal(_ error: any Error, _ person: SignedInPerson) -> ProviderRefusal {
        guard let fault = error as? Fault, fault.code == .accessDenied || fault.code == .invalidRequest else {
            return ProviderRefusal(.away, "config")
        }
        return ProviderRefusal(
            .misconfigured, "session",
            "config opens no session for '\(person.name)': config.sessionCallers must name the gateway, and config.administrators nobody of that name."
        )
    }

    private func cookie(_ exchange: Exchange) -> ProviderCookie { ProviderCookie(ConsoleCookie(console.dependencies.settings, exchange)) }

    private func refused(_ refusal: ProviderRefusal, _ target: String, _ exchange: Exchange) -> Response {
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
    /// Where the provider sends browsers back.
    var redirectURI: String { origin + ProviderSignInPages.returnPath }
}
