internal import SandboxKit
internal import Clocks
internal import FoundationEssentials
internal import Hummingbird

/// `GET /auth/authorize`: a page that asks for consent, and its answer.
struct AuthorizeEndpoint: Sendable {
    let memory: AppleMemory
    let pages: Pages

    func page(_ request: AppleRequest) -> AppleAnswer {
        do throws(AppleRejection) {
            let asked = try ConsentRequest(request.query, memory.access { $0.directory }, now: request.now)
            let transaction = memory.access { content in
                let transaction = content.octets.text(24, for: "consent")
                content.consentPages[transaction] = asked
                return transaction
            }
            let values: [String: Any] = [
                "client": asked.client.id, "transaction": transaction, "asksName": asked.scopes.contains("name"),
                "asksEmail": asked.scopes.contains("email"),
            ]
            return .html(pages.text("apple-consent", values), outcome: "asked")
        } catch {
            return .refused(error)
        }
    }

    /// The person's choice: `transaction`, `account`, `firstName`, `lastName`, `mail` (`share` or `hide`), `action` (`continue` or `cancel`).
    func consent(_ request: AppleRequest) -> AppleAnswer {
        do {
            let form = FormFields(encoded: String(decoding: request.body, as: UTF8.self))
            let transaction = try form.single("transaction") ?? ""
            guard let asked = memory.access({ $0.consentPages.removeValue(forKey: transaction) }),
                request.now < asked.createdAt + ConsentRequest.lifetime
            else { return .refused(AppleRejection(.invalidRequest, "the page is too old")) }
            if try form.single("action") == "cancel" { return answer(asked, [("error", "user_cancelled_authorize")], outcome: "cancelled") }
            guard let account = try form.single("account"), !account.isEmpty else {
                return .refused(AppleRejection(.invalidRequest, "account is missing"))
            }
            var order = SignInOrder(account: account, client: asked.client, nonce: asked.nonce, scopes: asked.scopes, redirectURI: asked.redirectURI)
            order.hidesEmail = try form.single("mail") == "hide"
            order.name = try Self.name(form)
            let issue = try memory.access { try $0.signIn(order, now: request.now) }
            return answer(asked, try Self.fields(issue, asked), outcome: "consented")
        } catch is RequestRejection {
            return .refused(AppleRejection(.invalidRequest, "a field is repeated or not percent-encoded"))
        } catch {
            return AppleAnswer(status: .internalServerError, outcome: "\(error)")
        }
    }

    private static func name(_ form: FormFields) throws -> SignInIssue.Person.Name? {
        let (first, last) = (try form.single("firstName") ?? "", try form.single("lastName") ?? "")
        if first.isEmpty, last.isEmpty { return nil }
        return SignInIssue.Person.Name(firstName: first.isEmpty ? nil : first, lastName: last.isEmpty ? nil : last)
    }

    private static func fields(_ issue: SignInIssue, _ asked: ConsentRequest) throws -> [(String, String)] {
        var fields = [("code", issue.code)]
        if asked.wantsIdentityToken { fields.append(("id_token", issue.identityToken)) }
        if let person = issue.person {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            fields.append(("user", String(decoding: try encoder.encode(person), as: UTF8.self)))
        }
        return fields
    }

    private func answer(_ asked: ConsentRequest, _ fields: [(String, String)], outcome: String) -> AppleAnswer {
        let fields = (asked.state.map { [("state", $0)] } ?? []) + fields
        if asked.mode == .formPost {
            let values: [String: Any] = ["address": asked.redirectURI, "fields": fields.map { ["name": $0.0, "value": $0.1] }]
            return .html(pages.text("apple-answer", values), outcome: outcome)
        }
        let query = fields.map { "\($0.0)=\(FormFields.encoded($0.1))" }.joined(separator: "&")
        let mark = asked.mode == .fragment ? "#" : asked.redirectURI.contains("?") ? "&" : "?"
        let headers: HTTPFields = [.location: asked.redirectURI + mark + query, .cacheControl: "no-store"]
        return AppleAnswer(status: .found, headers: headers, outcome: outcome)
    }
}

/// A web page's request to `GET /auth/authorize` (apple §2.1).
struct ConsentRequest: Sendable {
    enum Mode: String, Sendable {
        case query, fragment
        case formPost = "form_post"
    }

    static let lifetime = Duration.seconds(600)
    private static let parameters: Set<String> = [
        "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce",
    ]

    let client: AppleClient
    let redirectURI: String
    let wantsIdentityToken: Bool
    let mode: Mode
    let scopes: Set<String>
    let state: String?
    let nonce: String?
    let createdAt: Timestamp

    init(_ query: String, _ directory: AppleDirectory, now: Timestamp) throws(AppleRejection) {
        let fields = FormFields(encoded: query)
        var values: [String: String] = [:]
        for name in fields.names {
            guard Self.parameters.contains(name), fields.raw(name).count == 1, let value = try? fields.single(name) else {
                throw AppleRejection(.invalidRequest, "\(name.prefix(40)) is no parameter here, repeated or not percent-encoded")
            }
            values[name] = value
        }
        // Nothing goes to an address that is not this client's.
        guard let id = values["client_id"] else { throw AppleRejection(.invalidRequest, "client_id is missing") }
        guard let client = directory.client(id), let addresses = client.redirectURLs else {
            throw AppleRejection(.invalidClient, "the client is no Services ID")
        }
        guard let address = values["redirect_uri"], addresses.contains(address) else {
            throw AppleRejection(.unauthorizedClient, "redirect_uri is none of the client's")
        }
        let scopes = Set((values["scope"] ?? "").split(separator: " ").map(String.init))
        guard scopes.isSubset(of: ["name", "email"]) else { throw AppleRejection(.invalidScope, "the scope is unknown") }
        let types = Set((values["response_type"] ?? "").split(separator: " ").map(String.init))
        guard types == ["code"] || types == ["code", "id_token"] else { throw AppleRejection(.invalidRequest, "response_type is unknown") }
        let wantsIdentityToken = types.contains("id_token")
        guard let mode = Mode(rawValue: values["response_mode"] ?? (wantsIdentityToken ? "fragment" : "query")) else {
            throw AppleRejection(.invalidRequest, "response_mode is unknown")
        }
        if !scopes.isEmpty, mode != .formPost { throw AppleRejection(.invalidRequest, "scopes need form_post") }
        if wantsIdentityToken, mode == .query { throw AppleRejection(.invalidRequest, "an identity token never goes into a query") }
        (self.client, redirectURI, self.wantsIdentityToken, self.mode, self.scopes) = (client, address, wantsIdentityToken, mode, scopes)
        (state, nonce, createdAt) = (values["state"], values["nonce"], now)
    }
}
