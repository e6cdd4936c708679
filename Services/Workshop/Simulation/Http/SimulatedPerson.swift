package import CommandKit
internal import Foundation
internal import TextEncodings

/// A person with a browser on the second screen: types the code, picks the MVPD, signs in.
///
/// Works on the pages as a browser without scripts does: follows redirects, keeps cookies, presses the button of the page's form.
package struct SimulatedPerson {
    let exchange: HTTPExchange
    private var cookies: [String: [String: String]] = [:]
    private static let stepLimit = 12

    package init(exchange: HTTPExchange) { self.exchange = exchange }

    /// - Parameters:
    ///   - start: Where the browser is sent first.
    ///   - name: Login name at the MVPD.
    ///   - password: Password at the MVPD.
    ///   - end: The journey is over when the browser is sent to an address with this prefix.
    /// - Returns: The address with that prefix.
    /// - Throws: `CommandFailure` naming the page where it got stuck.
    package mutating func signIn(at start: String, name: String, password: String, until end: String) async throws -> String {
        var next = Step(method: "GET", url: start, body: nil)
        for _ in 0..<Self.stepLimit {
            if next.url.hasPrefix(end) { return next.url }
            let answer = try await load(next)
            next = try nextStep(after: answer, at: next.url, name: name, password: password)
        }
        throw Self.endless
    }

    /// The same for a test sign-in, which ends at a page without a form.
    package mutating func signIn(at start: String, name: String, password: String) async throws {
        var next = Step(method: "GET", url: start, body: nil)
        for _ in 0..<Self.stepLimit {
            let answer = try await load(next)
            if answer.status == 200, WebForm(html: answer.text) == nil { return }
            next = try nextStep(after: answer, at: next.url, name: name, password: password)
        }
        throw Self.endless
    }

    private static var endless: CommandFailure {
        CommandFailure("the sign-in did not end after \(stepLimit) pages", advice: "'boxoffice logs gateway sandbox --since 1m' shows what happened")
    }

    private struct Step {
        var method: String
        var url: String
        var body: String?
    }

    private func nextStep(after answer: HTTPAnswer, at url: String, name: String, password: String) throws -> Step {
        if (300..<400).contains(answer.status), let location = answer.header("location"), let target = resolve(location, against: url) {
            return Step(method: "GET", url: target, body: nil)
        }
        let form = WebForm(html: answer.text)
        if answer.status == 422, form?.fields.contains(where: { $0.name == "password" }) == true {
            throw CommandFailure("the MVPD refuses the login of \(name)", advice: SandboxPeople.advice(afterRefusing: name))
        }
        guard answer.status == 200, var form, let target = resolve(form.action, against: url) else { throw Self.stuck(answer, at: url) }
        if form.fields.contains(where: { $0.name == "password" }) {
            form.fill("username", name)
            form.fill("password", password)
        }
        if form.method == "post" { return Step(method: "POST", url: target, body: form.encoded) }
        return Step(method: "GET", url: target + (target.contains("?") ? "&" : "?") + form.encoded, body: nil)
    }

    /// A page that leads no further, with its trace and the command that explains it.
    static func stuck(_ answer: HTTPAnswer, at url: String) -> CommandFailure {
        let page = WebPage(html: answer.text)
        let words = page.heading.map { " ('\(TerminalText.printable($0))')" } ?? ""
        let place = "the sign-in got stuck at \(WebAddress.origin(of: url)) with status \(answer.status)\(words)"
        guard let trace = page.trace else { return CommandFailure(place, advice: "'boxoffice logs gateway --since 1m' has the reason") }
        return CommandFailure("\(place), trace \(trace)", advice: "'boxoffice explain \(trace)' tells why")
    }

    private mutating func load(_ step: Step) async throws -> HTTPAnswer {
        let site = WebAddress.origin(of: step.url)
        var headers = [("Accept", "text/html")]
        if let jar = cookies[site], !jar.isEmpty {
            headers.append(("Cookie", jar.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")))
        }
        if step.body != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        let answer = try await exchange.send(step.method, step.url, headers: headers, body: step.body)
        for header in answer.headers where header.name.lowercased() == "set-cookie" {
            let pair = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { cookies[site, default: [:]][String(pair[0])] = String(pair[1]) }
        }
        return answer
    }

    private func resolve(_ reference: String, against base: String) -> String? {
        URL(string: reference, relativeTo: URL(string: base))?.absoluteString
    }
}

/// A form of an HTML page, as far as a program needs it to press its button.
package struct WebForm: Equatable {
    package var action: String
    package var method: String
    package var fields: [(name: String, value: String)]

    package static func == (left: WebForm, right: WebForm) -> Bool {
        left.action == right.action && left.method == right.method && left.fields.elementsEqual(right.fields, by: ==)
    }

    /// The first form of a page; `nil` when it has none.
    package init?(html: String) {
        guard let form = html.firstMatch(of: /(?is)<form\b([^>]*)>(.*?)<\/form>/) else { return nil }
        let attributes = Self.attributes(String(form.1))
        action = attributes["action"] ?? ""
        method = (attributes["method"] ?? "get").lowercased()
        fields = form.2.matches(of: /(?is)<input\b([^>]*)>/).compactMap { input in
            let attributes = Self.attributes(String(input.1))
            return attributes["name"].map { ($0, attributes["value"] ?? "") }
        }
    }

    /// Sets the field of that name; adds it when the form has none.
    package mutating func fill(_ name: String, _ value: String) {
        if let index = fields.firstIndex(where: { $0.name == name }) {
            fields[index].value = value
        } else {
            fields.append((name, value))
        }
    }

    /// `application/x-www-form-urlencoded`.
    package var encoded: String {
        FormEncoding.encode(fields.map { ($0.name, $0.value) })
    }

    private static func attributes(_ text: String) -> [String: String] {
        var found: [String: String] = [:]
        for match in text.matches(of: /([A-Za-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/) {
            found[match.1.lowercased()] = unescaped(String(match.2 ?? match.3 ?? ""))
        }
        return found
    }

    fileprivate static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        let named = ["quot": "\"", "apos": "'", "lt": "<", "gt": ">", "amp": "&"]
        return text.replacing(/&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|([a-z]+));/) { match in
            if let name = match.3 { return named[String(name)] ?? String(match.0) }
            let number = match.1.flatMap { UInt32($0, radix: 16) } ?? match.2.flatMap { UInt32($0) }
            return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? String(match.0)
        }
    }
}

/// The message of a page to the person who got stuck at it.
struct WebPage {
    /// The trace id, as the gateway's pages show it; `nil`: none is shown.
    let trace: String?
    /// The heading, without markup, cut to 100 characters; `nil`: none.
    let heading: String?

    init(html: String) {
        trace = html.firstMatch(of: /class="trace">\s*([0-9a-f]{32})\s*</).map { String($0.1) }
        let heading = html.firstMatch(of: /(?is)<h1\b[^>]*>(.*?)<\/h1>/).map { match in
            let words = WebForm.unescaped(String(match.1).replacing(/<[^>]*>/, with: " ")).split(whereSeparator: \.isWhitespace)
            return String(words.joined(separator: " ").prefix(100))
        }
        self.heading = heading.flatMap { $0.isEmpty ? nil : $0 }
    }
}
