@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Foundation
import Testing
import TextEncodings

/// A person's browser, one step at a time, so that a case can interfere.
struct Browser: Sendable {
    /// A page with a form.
    struct Page: Sendable {
        let url: String
        let answer: HTTPAnswer
        var form: WebForm

        /// The value of a field of the form.
        func value(_ name: String) -> String? { form.fields.first { $0.name == name }?.value }
    }

    let exchange: HTTPExchange
    private var cookies: [String: [String: String]] = [:]
    private static let stepLimit = 6

    init(exchange: HTTPExchange) { self.exchange = exchange }

    /// Goes from the code to the MVPD's login page, through redirects and hand-over forms.
    mutating func openLogin(_ device: Device, code: String, mvpd: String = "NorthCable") async throws -> Page {
        let query = FormEncoding.encode(device.signInParameters(code, mvpd: mvpd).map { ($0.key, $0.value) })
        let url = "\(device.cluster.gateway)/api/v1/authenticate?\(query)"
        return try await login(from: try await load("GET", url), at: url)
    }

    /// Goes on to the MVPD's login page with a sign-in that was begun elsewhere.
    /// - Parameter begun: The gateway's answer there.
    mutating func openLogin(begun: HTTPAnswer, at url: String) async throws -> Page { try await login(from: begun, at: url) }

    /// Completes a sign-in that was begun elsewhere.
    /// - Parameter begun: The gateway's answer there.
    mutating func complete(_ begun: HTTPAnswer, at url: String, name: String) async throws -> HTTPAnswer {
        let login = try await login(from: begun, at: url)
        return try await back(try await submit(try await answer(login, name: name)), to: url)
    }

    /// Through a bridge a browser comes back from the cluster that signed the person in, by an address of the bridge's own.
    mutating func back(_ answer: HTTPAnswer, to device: Device) async throws -> HTTPAnswer {
        try await back(answer, to: device.cluster.gateway)
    }

    private mutating func back(_ answer: HTTPAnswer, to gateway: String) async throws -> HTTPAnswer {
        guard answer.status == 302, let target = answer.header("location"), target.hasPrefix("http"), try site(of: target) == site(of: gateway),
            URL(string: target)?.path.hasPrefix("/bridge/return/") == true
        else { return answer }
        return try await load("GET", target)
    }

    private mutating func login(from begun: HTTPAnswer, at start: String) async throws -> Page {
        var (answer, url) = (begun, start)
        for _ in 0..<Self.stepLimit {
            if answer.status == 302 {
                url = try #require(answer.header("location"))
                answer = try await load("GET", url)
                continue
            }
            let page = try page(answer, at: url)
            if page.value("password") != nil { return page }
            url = try target(of: page)
            answer = try await submit(page)
        }
        throw CommandFailure("no login page after \(Self.stepLimit) steps")
    }

    /// Answers the login page with a name, which is also the password; `cancel` presses the other button.
    /// - Returns: The page that carries the MVPD's message to the service provider.
    mutating func answer(_ login: Page, name: String, cancel: Bool = false) async throws -> Page {
        var filled = login
        if cancel {
            filled.form.fill("action", "cancel")
        } else {
            filled.form.fill("username", name)
            filled.form.fill("password", name)
        }
        return try page(try await submit(filled), at: try target(of: login))
    }

    /// The whole way.
    /// - Returns: The answer of the assertion consumer.
    mutating func signIn(
        _ device: Device, code: String, mvpd: String = "NorthCable", name: String = "ada", cancel: Bool = false
    ) async throws -> HTTPAnswer {
        let login = try await openLogin(device, code: code, mvpd: mvpd)
        let answer = try await submit(try await answer(login, name: name, cancel: cancel))
        return try await back(answer, to: device)
    }

    /// Up to the MVPD's message, which is not sent on.
    mutating func messagePage(_ device: Device, code: String, name: String = "ada") async throws -> Page {
        let login = try await openLogin(device, code: code)
        let page = try await answer(login, name: name)
        try #require(page.value("SAMLResponse") != nil)
        return page
    }

    /// Presses the button of the page's form.
    mutating func submit(_ page: Page) async throws -> HTTPAnswer {
        try await load(page.form.method == "post" ? "POST" : "GET", try target(of: page), body: page.form.encoded)
    }

    /// Follows an address, and no redirect.
    mutating func visit(_ url: String) async throws -> HTTPAnswer { try await load("GET", url) }

    /// The form of a page.
    func form(_ answer: HTTPAnswer, at url: String) throws -> Page { try page(answer, at: url) }

    private mutating func load(_ method: String, _ url: String, body: String? = nil) async throws -> HTTPAnswer {
        let site = try site(of: url)
        var headers = [("Accept", "text/html")]
        if let jar = cookies[site], !jar.isEmpty { headers.append(("Cookie", jar.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))) }
        if body != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        let answer = try await exchange.send(method, url, headers: headers, body: body)
        for header in answer.headers where header.name.lowercased() == "set-cookie" {
            let pair = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { cookies[site, default: [:]][String(pair[0])] = String(pair[1]) }
        }
        return answer
    }

    private func page(_ answer: HTTPAnswer, at url: String) throws -> Page {
        let form = try #require(WebForm(html: answer.text), "no form at \(url): \(answer.status) \(answer.text)")
        return Page(url: url, answer: answer, form: form)
    }

    private func target(of page: Page) throws -> String {
        try #require(URL(string: page.form.action, relativeTo: URL(string: page.url))?.absoluteString)
    }

    private func site(of url: String) throws -> String {
        let parsed = try #require(URL(string: url))
        return "\(parsed.host ?? ""):\(parsed.port ?? 80)"
    }
}
