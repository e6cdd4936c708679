import Simulation
import Foundation
import NIOHTTP1
import TextEncodings

/// A person with a browser, who signs a device in with its registration code (rest-v1 §3.7, §3.8).
///
/// Follows redirects, keeps cookies, presses the button of each page's form.
struct Person {
    /// How a sign-in went.
    enum End: Sendable {
        /// The browser was sent back to the app: acknowledged.
        case signedIn
        /// A page was refused or did not come.
        case notNow
        /// As `notNow`, after the MVPD's answer was handed over: there may be a session.
        case unknown
    }

    let caller: Caller
    let gateway: String
    let name: String
    private var cookies: [String: [String: String]] = [:]
    private static let steps = 12

    init(caller: Caller, gateway: String, name: String) { (self.caller, self.gateway, self.name) = (caller, gateway, name) }

    mutating func signIn(code: String, mvpd: String) async -> End {
        let end = "\(gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", Television.requestor), ("mso_id", mvpd), ("domain_name", "acme.example"), ("noflash", "true"),
            ("redirect_url", "\(end)?code=\(code)&requestor=\(Television.requestor)"),
        ])
        var step = Step(method: .GET, url: "\(gateway)/api/v1/authenticate?\(query)")
        for _ in 0..<Self.steps {
            if step.url.hasPrefix(end) { return .signedIn }
            let isHandover = step.method == .POST && step.url.hasPrefix(gateway)
            guard let answer = await load(step), let next = next(after: answer, at: step.url) else { return isHandover ? .unknown : .notNow }
            step = next
        }
        return .notNow
    }

    private struct Step {
        var method: HTTPMethod
        var url: String
        var body: String?
    }

    private mutating func load(_ step: Step) async -> Answer? {
        let site = Self.site(of: step.url)
        var headers = [("Accept", "text/html")]
        if let jar = cookies[site], !jar.isEmpty {
            headers.append(("Cookie", jar.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")))
        }
        if step.body != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        let operation: Operation = step.url.hasPrefix(gateway) ? .signIn : .mvpd
        let outcome = await caller.send(operation, step.method, step.url, expecting: [200, 302, 303], headers: headers, body: step.body)
        guard let answer = outcome.answer else { return nil }
        for header in answer.headers where header.name.lowercased() == "set-cookie" {
            let pair = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { cookies[site, default: [:]][String(pair[0])] = String(pair[1]) }
        }
        return answer
    }

    private func next(after answer: Answer, at url: String) -> Step? {
        if answer.status != 200 { return answer.header("location").flatMap { Self.resolve($0, against: url) }.map { Step(method: .GET, url: $0) } }
        guard var form = WebForm(html: answer.text), let target = Self.resolve(form.action, against: url) else { return nil }
        if form.fields.contains(where: { $0.name == "password" }) {
            form.fill("username", name)
            form.fill("password", name)
        }
        if form.method == "post" { return Step(method: .POST, url: target, body: form.encoded) }
        return Step(method: .GET, url: target + (target.contains("?") ? "&" : "?") + form.encoded)
    }

    private static func resolve(_ reference: String, against base: String) -> String? {
        URL(string: reference, relativeTo: URL(string: base))?.absoluteString
    }

    /// Scheme, host and port: what a cookie belongs to here.
    private static func site(of url: String) -> String {
        guard let parsed = URL(string: url) else { return "?" }
        return "\(parsed.scheme ?? "")://\(parsed.host ?? ""):\(parsed.port ?? 80)"
    }
}
