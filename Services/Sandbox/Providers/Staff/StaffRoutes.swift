internal import SandboxKit
internal import Clocks
internal import FoundationEssentials
internal import Hummingbird

/// Discovery, the page with a choice of people, tokens and keys.
struct StaffRoutes: Sendable {
    private static let largestForm = 64 * 1024
    private static let purpose = "staff-page"

    let provider: StaffProvider
    let clock: any WallClock
    let log: RequestLog
    let pages: Pages

    func add(to router: Router<SandboxContext>) {
        router.get("/staff/.well-known/openid-configuration") { _, _ in try Self.json(provider.discovery) }
        router.get("/staff/jwks") { _, _ in Self.json(#"{"keys":[\#(provider.key.jwk)]}"#) }
        router.get("/staff/authorize") { request, _ in
            try page { try authorize(FormFields(encoded: request.uri.query ?? "")) }
        }
        router.post("/staff/choose") { request, _ in
            let form = String(buffer: try await request.body.collect(upTo: Self.largestForm))
            return try page { try choose(FormFields(encoded: form)) }
        }
        router.post("/staff/token") { request, _ in
            let form = String(buffer: try await request.body.collect(upTo: Self.largestForm))
            do {
                return try token(FormFields(encoded: form), request)
            } catch is RequestRejection { return Self.json(#"{"error":"invalid_request"}"#, .badRequest) }
        }
    }

    private func page(_ handle: () throws -> Response) throws -> Response {
        do {
            return try handle()
        } catch let refusal as RequestRejection {
            let values = ["mvpd": "Staff accounts", "initial": "S", "code": refusal.code, "explanation": refusal.explanation]
            return pages.html("error", values, status: .badRequest)
        }
    }

    private func authorize(_ query: FormFields) throws -> Response {
        // Nothing goes to an address that is not this client's.
        guard let id = try query.single("client_id"), let client = provider.clients[id], let uri = try query.single("redirect_uri"),
            client.redirectURIs.contains(uri)
        else { throw RequestRejection("oauth.client", "The client is not known, or the redirect_uri is not one of its own.") }
        let request = OAuthRequest(
            client: id, redirectURI: uri, state: try query.single("state") ?? "", nonce: try query.single("nonce"),
            challenge: try query.single("code_challenge") ?? "", scope: try query.single("scope") ?? "", prompt: nil, authenticationContext: nil)
        guard try query.single("response_type") == "code", try query.single("code_challenge_method") == "S256",
            request.challenge.utf8.count == 43, !request.state.isEmpty, request.scope.split(separator: " ").contains("openid")
        else { return answer(request, [("error", "invalid_request")]) }
        let sealed = try provider.seal.close(request, purpose: Self.purpose, until: clock.now() + StaffProvider.pageLifetime)
        let people = provider.people.map { person in
            [
                "personName": person.name, "email": person.email, "rights": (person.roles + person.programmers).joined(separator: ", "),
            ]
        }
        return pages.html("staff", ["state": sealed, "people": people, "client": id])
    }

    private func choose(_ form: FormFields) throws -> Response {
        guard let state = try form.single("state"),
            let request = provider.seal.open(state, as: OAuthRequest.self, purpose: Self.purpose, at: clock.now())
        else { throw RequestRejection("state.unknown", "This page is too old. Go back to the console and start again.") }
        let email = try form.single("person") ?? ""
        guard provider.people.contains(where: { $0.email == email }) else {
            note("declined", email)
            return answer(request, [("error", "access_denied")])
        }
        let code = StaffProvider.Code(request: request, email: email, identifier: RandomIdentifier.next())
        let sealed = try provider.seal.close(code, purpose: "staff-code", until: clock.now() + StaffProvider.codeLifetime)
        note("signed-in", email)
        return answer(request, [("code", sealed)])
    }

    private func token(_ form: FormFields, _ request: Request) throws -> Response {
        guard let header = request.headers[.authorization], header.lowercased().hasPrefix("basic "),
            let octets = Base64.octets(String(header.dropFirst(6)))
        else { return Self.json(#"{"error":"invalid_client"}"#, .unauthorized) }
        let parts = String(decoding: octets, as: UTF8.self).split(separator: ":", maxSplits: 1).map { $0.removingPercentEncoding ?? "" }
        guard parts.count == 2, provider.clients[parts[0]]?.secret == parts[1] else {
            return Self.json(#"{"error":"invalid_client"}"#, .unauthorized)
        }
        guard try form.single("grant_type") == "authorization_code",
            let code = provider.seal.open(
                try form.single("code") ?? "", as: StaffProvider.Code.self, purpose: "staff-code", at: clock.now()),
            code.request.client == parts[0], try form.single("redirect_uri") == code.request.redirectURI,
            let verifier = try form.single("code_verifier"),
            Base64.urlText(Digest.sha256(Array(verifier.utf8))) == code.request.challenge, provider.use(code)
        else { return Self.json(#"{"error":"invalid_grant"}"#, .badRequest) }
        note("code-redeemed", code.email)
        let answer: [String: JsonClaim] = [
            "access_token": .text(RandomIdentifier.next()), "token_type": .text("Bearer"), "expires_in": .number(60),
            "id_token": .text(try provider.identityToken(code, at: clock.now())),
        ]
        return try Self.json(answer)
    }

    private func answer(_ request: OAuthRequest, _ parameters: [(String, String)]) -> Response {
        let all = parameters + [("state", request.state), ("iss", provider.issuer)]
        let query = all.map { "\($0.0)=\(FormFields.encoded($0.1))" }.joined(separator: "&")
        return Response(status: .seeOther, headers: [.location: request.redirectURI + "?" + query, .cacheControl: "no-store"])
    }

    private func note(_ outcome: String, _ email: String) {
        log.note("staff", mvpd: "staff", outcome: outcome, fields: ["person": email], at: clock.now())
    }

    private static func json(_ value: [String: JsonClaim]) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return json(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    private static func json(_ text: String, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
