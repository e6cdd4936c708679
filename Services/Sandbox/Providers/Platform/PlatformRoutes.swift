internal import Clocks
internal import FoundationEssentials
package import Hummingbird
package import SandboxKit

/// The stand-in Apple: the answers of a device's framework, and the routes by which tests set its state. Only callers on the same machine get
/// an answer.
package struct PlatformRoutes: Sendable {
    private static let largestMessage = 256 * 1024

    let framework: PlatformFramework
    let tokens: IdentityTokens
    let accounts: PlatformAccounts
    let clock: any WallClock
    let log: RequestLog

    /// Adds the routes of the address of the stand-in Apple.
    package func add(to router: Router<SandboxContext>) {
        let platform = router.group("/platform").add(middleware: LoopbackOnly())
        platform.put("/accounts/{account}") { request, context in
            let account = try await read(request) { octets throws(SettingsFault) in try PlatformAccount(json: octets, now: clock.now()) }
            accounts.set(account, for: try context.parameters.require("account"))
            return HTTPResponse.Status.noContent
        }
        platform.post("/access") { request, _ in
            let question = try await read(request) { octets throws(SettingsFault) in try SettingsFault.decode(AccessRequest.self, from: octets) }
            return try Self.json(AccessReport(access: accounts.account(question.account).access))
        }
        platform.post("/metadata") { request, _ in
            try answer(try await read(request) { octets throws(SettingsFault) in try SettingsFault.decode(MetadataRequest.self, from: octets) })
        }
        platform.post("/identity-token") { request, _ in
            let order = try await read(request) { octets throws(SettingsFault) in try SettingsFault.decode(IdentityTokens.Order.self, from: octets) }
            do {
                return try Self.json(TokenReport(token: try tokens.token(order, now: clock.now())))
            } catch let fault as SettingsFault {
                throw HTTPError(.badRequest, message: "\(fault)")
            }
        }
    }

    private struct AccessRequest: Decodable {
        let account: String
    }

    private struct AccessReport: Encodable {
        let access: PlatformAccount.Access
    }

    private struct TokenReport: Encodable {
        let token: String
    }

    private func answer(_ request: MetadataRequest) throws -> Response {
        let (metadata, account) = framework.answer(request, accounts.account(request.account), now: clock.now())
        accounts.set(account, for: request.account)
        let outcome = metadata.error.map { "error-\($0.code)" } ?? (metadata.samlAttributeQueryResponse == nil ? "metadata" : "answered")
        let provider = account.provider ?? ""
        log.count("platform", mvpd: provider)
        log.note("platform", mvpd: provider, outcome: outcome, at: clock.now())
        return try Self.json(metadata)
    }

    private func read<Value>(_ request: Request, _ parse: ([UInt8]) throws(SettingsFault) -> Value) async throws -> Value {
        let octets = Array(buffer: try await request.body.collect(upTo: Self.largestMessage))
        do {
            return try parse(octets)
        } catch {
            throw HTTPError(.badRequest, message: "\(error)")
        }
    }

    private static func json(_ value: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ByteBuffer(bytes: try encoder.encode(value))
        return Response(status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }
}

/// The platform's identity tokens: JWT, RS256 (rest-v1 §2.6).
struct IdentityTokens: Sendable {
    /// The content that a token is to have.
    struct Order: Decodable {
        let person: String
        let device: String?
        let audience: String?
        let issuer: String?
        /// Seconds; negative: it has already expired.
        let lifetimeSeconds: Int64?
    }

    private struct Claims: Encodable {
        let iss: String
        let sub: String
        let aud: String
        let did: String
        let iat: Int64
        let exp: Int64
    }

    private static let longestLifetime: Int64 = 31_536_000

    let issuer: String
    let key: SandboxSigningKey

    func token(_ order: Order, now: Timestamp) throws -> String {
        let lifetime = order.lifetimeSeconds ?? 3600
        guard (-Self.longestLifetime...Self.longestLifetime).contains(lifetime) else {
            throw SettingsFault(key: "lifetimeSeconds", problem: "is more than a year")
        }
        let claims = Claims(
            iss: order.issuer ?? issuer, sub: "sandbox-\(order.person)", aud: order.audience ?? "adobe", did: order.device ?? "sandbox-device",
            iat: now.seconds, exp: now.seconds + lifetime)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = Base64.urlText(Array(#"{"alg":"RS256","typ":"JWT"}"#.utf8))
        let input = header + "." + Base64.urlText(Array(try encoder.encode(claims)))
        return input + "." + Base64.urlText(try key.sign(Array(input.utf8)))
    }
}

/// The MVPD's answer to a platform: a compact SAML response, or one with a flaw.
struct PlatformAnswer {
    let provider: IdentityProvider
    /// MVPDs with keys of their own.
    let others: [IdentityProvider]
    let request: AuthnRequest
    let account: PlatformAccount
    let attributeNames: [String]
    let now: Timestamp

    /// - Throws: `RequestRejection` when the account's person is no subscriber; `XmlRejection` when the answer cannot be signed.
    func text() throws -> String {
        guard let person = provider.subscribers.person(named: account.person), !person.loginFails else {
            throw RequestRejection("subscriber.unknown", "“\(account.person)” is no subscriber of \(provider.id).")
        }
        let response = response()
        if account.flaw == .declined { return try response.failure(.authnFailed) }
        let session = ProviderSession(person: person.name, signedInAt: response.now, index: RandomIdentifier.next())
        return laidOut(try response.success(person, session: session, format: .persistent))
    }

    private func response() -> SamlResponse {
        var provider = provider
        var request = request
        switch account.flaw {
        case .unsigned: (provider.settings.signAssertion, provider.settings.signResponse) = (false, false)
        case .foreignSigner:
            if let other = others.first { (provider.key, provider.certificate) = (other.key, other.certificate) }
        case .foreignRequest: request.identifier = RandomIdentifier.next()
        case .foreignAudience: request.issuer += "-else"
        default: break
        }
        var response = SamlResponse(
            provider: provider, request: request, now: account.flaw == .stale ? now - .seconds(3600) : now)
        let asked = attributeNames + (request.queriedAttributes ?? []).filter { !attributeNames.contains($0) }
        response.attributeNames = Set(account.flaw == .missingAttribute ? Array(asked.dropFirst()) : asked)
        response.breaksLines = account.flaw == .prettyPrinted
        return response
    }

    private func laidOut(_ text: String) -> String {
        switch account.flaw {
        case .surroundingSpace: "\n  \(text)\t\n"
        case .brokenAttributes: text.replacingFirst(" ID=\"", with: "\nID=\"")
        default: text
        }
    }
}

extension String {
    fileprivate func replacingFirst(_ part: String, with other: String) -> String {
        guard let range = firstRange(of: part) else { return self }
        return replacingCharacters(in: range, with: other)
    }
}
