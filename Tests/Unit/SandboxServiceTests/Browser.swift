import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// A person's browser in front of one stand-in: it keeps cookies, and reads pages by their field names as a program does.
struct Browser {
    let client: any TestClientProtocol
    var cookie: String?

    struct Page {
        let status: HTTPResponse.Status
        let html: String

        func field(_ name: String) -> String? {
            guard let match = html.firstMatch(of: try! Regex("name=\"\(name)\" value=\"([^\"]*)\"")) else { return nil }  // the pattern is constant
            return match.output[1].substring.map { Page.unescaped(String($0)) }
        }

        /// The element's text.
        func text(id: String) -> String? {
            guard let match = html.firstMatch(of: try! Regex("id=\"\(id)\"[^>]*>([^<]*)<")) else { return nil }  // the pattern is constant
            return match.output[1].substring.map { Page.unescaped(String($0)) }
        }

        /// The SAML answer in the page.
        var answer: String? {
            field("SAMLResponse").flatMap(Base64.octets).map { String(decoding: $0, as: UTF8.self) }
        }

        /// The SAML answer taken apart.
        func decoded() throws -> Answer { try Answer(try #require(answer)) }

        private static func unescaped(_ text: String) -> String {
            let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
            return marks.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        }
    }

    init(_ client: any TestClientProtocol) { self.client = client }

    mutating func get(_ uri: String) async throws -> Page { try await send(uri, .get, nil) }

    mutating func post(_ uri: String, _ form: String) async throws -> Page { try await send(uri, .post, form) }

    mutating func redirect(_ request: AuthnRequestText) async throws -> Page {
        try await get("/saml/\(request.mvpd)/sso?\(try request.query())")
    }

    mutating func login(_ page: Page, mvpd: String = "NorthCable", name: String, password: String, action: String = "sign-in") async throws -> Page {
        let fields = [("state", page.field("state") ?? ""), ("username", name), ("password", password), ("action", action)]
        let form = fields.map { "\($0)=\(AuthnRequestText.encoded($1))" }.joined(separator: "&")
        return try await post("/saml/\(mvpd)/login", form)
    }

    private mutating func send(_ uri: String, _ method: HTTPRequest.Method, _ form: String?) async throws -> Page {
        var headers: HTTPFields = [:]
        if let cookie { headers[.cookie] = cookie }
        if form != nil { headers[.contentType] = "application/x-www-form-urlencoded" }
        let response = try await client.executeRequest(uri: uri, method: method, headers: headers, body: form.map { ByteBuffer(string: $0) })
        if let set = response.headers[.setCookie] { cookie = set.split(separator: ";").first.map(String.init) }
        return Page(status: response.status, html: String(buffer: response.body))
    }
}
