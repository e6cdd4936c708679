internal import AuthenticationCore
internal import Contracts
internal import Foundation
internal import OutboundHttp
internal import SamlExplanation

/// A browser on its way through a scheduled sign-in: takes each answer, and says what to send next. It goes to our own origin and to those of the
/// MVPD, and the password to the latter alone, whatever pages and redirects say.
struct TestVisit: Sendable {
    /// Requests of one visit.
    static let mostRequests = 16
    /// The header by which our own origin gives the result to the program that plays the browser.
    static let verdictHeader = "boxoffice-test-result"
    private static let mostCookies = 32
    private static let largestCookie = 4096

    enum Step: String, CaseIterable, Sendable {
        /// Our own origin sends the browser to the MVPD.
        case start
        /// The MVPD shows its login page.
        case page
        /// The MVPD takes user and password.
        case login
        /// Our own origin checks what the MVPD answered.
        case answer
    }

    struct Failure: Error, Hashable, Sendable {
        let step: Step
        /// A word for metrics and alarms.
        let reason: String
        /// For people; never user or password.
        let explanation: String
    }

    enum Action: Sendable {
        case send(OutboundRequest)
        case signedIn
        case failed(Failure)
    }

    /// The user who signs in, and the MVPD.
    struct Plan: Sendable {
        /// Our own.
        let origin: String
        /// Opens the test.
        let address: String
        /// The MVPD's.
        let origins: Set<String>
        let user: String
        let password: ProviderSecret
        var userField = ""
        var passwordField = ""
    }

    let plan: Plan
    private(set) var step = Step.start
    private var url: RedirectAddress?
    private var requests = 0
    private var hasGivenUser = false
    private var hasGivenPassword = false
    private var cookies: [String: [(name: String, value: String)]] = [:]

    init(_ plan: Plan) { self.plan = plan }

    mutating func begin() -> Action { go(to: plan.address) }

    mutating func next(after answer: OutboundAnswer) -> Action {
        guard let url else { return fail("unusable", "There is no page yet.") }
        keepCookies(answer, of: url.origin)
        let isOurs = url.origin == plan.origin
        if isOurs, let verdict = answer.header(Self.verdictHeader) { return end(verdict) }
        if (300..<400).contains(answer.status) {
            guard let location = answer.header("location"), !location.isEmpty else {
                return fail("unusable", "\(who) answered \(answer.status) without an address.")
            }
            return go(to: location)
        }
        guard answer.status < 500, !(isOurs && answer.status >= 400) else {
            return fail("status_\(answer.status)", "\(who) answered \(answer.status)\(said(LoginPage(answer.body))).")
        }
        return send(LoginPage(answer.body), status: answer.status, isOurs: isOurs)
    }

    /// - Returns: The failure when a request had no answer.
    func failure(_ error: OutboundFailure) -> Failure {
        let (reason, words) =
            switch error.kind {
            case .connectTimeout, .responseTimeout, .budgetSpent: ("timeout", "did not answer in time")
            case .notSent, .refusedAddress, .noCertificate: ("unreachable", "cannot be reached")
            case .resetBeforeAnswer: ("broken", "broke the connection before it answered")
            case .unusable: ("unusable", "sent an answer that breaks off or is too large, or its certificate is not one of those we trust")
            case .cancelled: ("cancelled", "was not waited for")
            }
        return Failure(step: step, reason: reason, explanation: "\(who) \(words).")
    }

    // MARK: Pages

    private mutating func send(_ page: LoginPage, status: Int, isOurs: Bool) -> Action {
        if let form = page.forms.first(where: { form in form.fields.contains { $0.name == "SAMLResponse" || $0.name == "SAMLRequest" } }) {
            return submit(form)
        }
        guard !isOurs else { return fail("status_\(status)", "\(who) answered \(status) with a page that is no part of a sign-in\(said(page)).") }
        if let form = page.forms.first(where: { $0.hasPassword }) ?? page.forms.first(where: isLogin) { return fill(form, page, status: status) }
        if status < 400, let form = page.forms.first(where: \.isCarrier) { return submit(form) }
        return fail("no_form", "\(who) answered \(status) with a page that has no form for a login\(said(page)).")
    }

    /// A form that asks for the user alone counts where the catalogue says so, or where it is sent as logins are. A search does not count.
    private func isLogin(_ form: LoginPage.Form) -> Bool {
        guard let places = form.places(user: plan.userField, password: plan.passwordField) else { return false }
        return places.password != nil || !plan.userField.isEmpty || form.isPost
    }

    private mutating func fill(_ form: LoginPage.Form, _ page: LoginPage, status: Int) -> Action {
        guard let places = form.places(user: plan.userField, password: plan.passwordField) else {
            return fail("no_form", "\(who) answered \(status) with a form that lacks the fields of the catalogue\(said(page)).")
        }
        if hasGivenPassword || (hasGivenUser && places.password == nil) {
            step = .login
            return fail("login_refused", "\(who) did not take user and password: it answered \(status) with its login page again\(said(page)).")
        }
        var form = form
        if let user = places.user { form.fields[user].value = plan.user }
        if let password = places.password { form.fields[password].value = plan.password.text }
        // A password in an address is in everybody's logs.
        guard form.isPost || places.password == nil else { return fail("unsafe_form", "\(who) wants the password in an address.") }
        guard let target = address(form.action), plan.origins.contains(target.origin) else {
            return fail("foreign_address", "\(who) sends the login to an address that is none of its own\(named(form.action)).")
        }
        (hasGivenUser, hasGivenPassword) = (true, places.password != nil)
        step = .login
        return submit(form)
    }

    private mutating func submit(_ form: LoginPage.Form) -> Action {
        guard form.isPost else {
            let mark = form.action.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
            return go(to: form.action + mark + form.encoded)
        }
        return go(to: form.action, body: Array(form.encoded.utf8))
    }

    // MARK: Addresses

    private mutating func go(to text: String, body: [UInt8]? = nil) -> Action {
        guard let target = address(text) else { return fail("unusable", "\(who) names an address that is none\(named(text)).") }
        guard target.origin == plan.origin || plan.origins.contains(target.origin) else {
            return fail(
                "foreign_address", "\(who) leads to an address that the test may not ask\(named(text)); name it in 'origins' if it is the MVPD's.")
        }
        requests += 1
        guard requests <= Self.mostRequests else {
            return fail("endless", "\(who) leads on and on; nothing has come of \(Self.mostRequests) requests.")
        }
        if let url {
            if target.origin == plan.origin { step = .answer } else if url.origin == plan.origin, !hasGivenPassword { step = .page }
        }
        url = target
        var headers: [OutboundRequest.Header] = [("accept", "text/html")]
        if let jar = cookies[target.origin], !jar.isEmpty {
            headers.append(("cookie", jar.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")))
        }
        if body != nil { headers.append(("content-type", "application/x-www-form-urlencoded")) }
        return .send(OutboundRequest(body == nil ? .get : .post, target.text, headers: headers, body: body))
    }

    /// Absolute, without a fragment.
    private func address(_ text: String) -> RedirectAddress? {
        guard text.utf8.count <= RedirectAddress.longest * 8 else { return nil }
        guard let url else { return TestOrigin.address(text) }
        guard !text.isEmpty else { return url }
        guard let base = URL(string: url.text), let absolute = URL(string: text, relativeTo: base)?.absoluteString else { return nil }
        return TestOrigin.address(absolute)
    }

    private mutating func keepCookies(_ answer: OutboundAnswer, of origin: String) {
        var jar = cookies[origin] ?? []
        for header in answer.headers where header.name.lowercased() == "set-cookie" && header.value.utf8.count <= Self.largestCookie {
            let pair = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { continue }
            let name = String(pair[0])
            jar.removeAll { $0.name == name }
            if !pair[1].isEmpty, jar.count < Self.mostCookies { jar.append((name, String(pair[1]))) }
        }
        cookies[origin] = jar
    }

    // MARK: Ends

    private mutating func end(_ verdict: String) -> Action {
        step = .answer
        let words = verdict.split(separator: " ", maxSplits: 1)
        if words.first == "signedIn" { return .signedIn }
        let reason = words.count > 1 ? String(words[1]) : String(words.first ?? "rejected")
        let end = words.first == "declined" ? "The MVPD says that it did not sign the person in" : "What the MVPD answered is refused by our checks"
        return fail(reason, "\(end): \(reason).")
    }

    /// The party that is asked.
    private var who: String { step == .start || step == .answer ? "The gateway" : "The MVPD" }

    private func fail(_ reason: String, _ explanation: String) -> Action {
        .failed(Failure(step: step, reason: reason, explanation: explanation))
    }

    private func said(_ page: LoginPage) -> String {
        let words = hidden(page.alert.isEmpty ? page.title : page.alert)
        return words.isEmpty ? "" : ", which says '\(words)'"
    }

    /// Scheme and host of an address of somebody else's; the rest may hold anything.
    private func named(_ text: String) -> String { address(text).map { " (\(hidden($0.origin)))" } ?? "" }

    private func hidden(_ text: String) -> String {
        [plan.password.text, plan.user].filter { !$0.isEmpty }.reduce(text) { $0.replacing($1, with: "[hidden]") }
    }
}

/// Addresses of a visit, with the ports that schemes have left out.
package enum TestOrigin {
    static func address(_ text: String) -> RedirectAddress? {
        let bare = text.prefix { $0 != "#" }
        guard let address = RedirectAddress(String(bare), longest: RedirectAddress.longest * 8), address.isWeb else { return nil }
        let port = address.scheme == "https" ? ":443" : ":80"
        guard address.authority.hasSuffix(port) else { return address }
        let rest = bare.dropFirst(address.scheme.count + 3 + address.authority.count)
        return RedirectAddress("\(address.scheme)://\(address.authority.dropLast(port.count))\(rest)", longest: RedirectAddress.longest * 8)
    }

    /// - Returns: `nil`: it is no web address.
    package static func origin(_ text: String) -> String? { address(text)?.origin }
}
