import OutboundHttp
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// A test user's browser, which trusts no page.
@Suite struct TestVisitTests {
    private func visit(_ change: (inout TestVisit.Plan) -> Void = { _ in }) -> TestVisit {
        var plan = TestVisit.Plan(
            origin: TestSite.origin, address: TestSite.origin + "/test-sign-in/t", origins: [TestSite.mvpd, "https://login.idp.example:8443"],
            user: "tess", password: ProviderSecret("s3same"))
        change(&plan)
        return TestVisit(plan)
    }

    /// At the MVPD's first page.
    private func atMvpd(_ change: (inout TestVisit.Plan) -> Void = { _ in }) throws -> TestVisit {
        var visit = visit(change)
        guard case .send(let first) = visit.begin() else { throw Lost() }
        #expect(first.url == TestSite.origin + "/test-sign-in/t" && visit.step == .start)
        let request = try sent(visit.next(after: redirect("https://idp.example:443/sso?a=b#c")))
        #expect(request.url == "https://idp.example/sso?a=b" && visit.step == .page)
        return visit
    }

    private struct Lost: Error {}

    private func redirect(_ location: String) -> OutboundAnswer { OutboundAnswer(status: 302, headers: [("Location", location)]) }

    private func sent(_ action: TestVisit.Action) throws -> OutboundRequest {
        guard case .send(let request) = action else {
            Issue.record("\(action)")
            throw Lost()
        }
        return request
    }

    private func failure(_ action: TestVisit.Action) throws -> TestVisit.Failure {
        guard case .failed(let failure) = action else {
            Issue.record("\(action)")
            throw Lost()
        }
        #expect(!failure.explanation.contains("s3same"))
        return failure
    }

    @Test("fills in what a person would, keeps hidden fields, presses the first button, and follows to our own address")
    func signsIn() throws {
        var visit = try atMvpd()
        let page = """
            <!-- <form><input type=password name=trap></form> --><form action=/search><input name=q></form>
            <FORM METHOD='POST' ACTION="login?x=1&amp;y=2"><input type=hidden name=csrf value='a"&#39;&#x3c;'><INPUT NAME=user TYPE=email>
            <input type="checkbox" name="stay"><input type=checkbox name=terms checked><input type=password name=pw value=old>
            <button type=button name=show>Show</button><input type=submit name=go value=Go><input type=submit name=forgot value=1></form>
            """
        let login = try sent(visit.next(after: TestSite.html(page)))
        #expect(login.method == .post && login.url == "https://idp.example/login?x=1&y=2" && visit.step == .login)
        #expect(TestSite.fields(login) == ["csrf": "a\"'<", "user": "tess", "pw": "s3same", "terms": "on", "go": "Go"])
        let answer = try sent(visit.next(after: redirect("https://tv.example/adobe-services/oauth2?code=1&state=2")))
        #expect(answer.method == .get && visit.step == .answer)
        guard case .signedIn = visit.next(after: OutboundAnswer(status: 200, headers: [("Boxoffice-Test-Result", "signedIn")])) else { throw Lost() }
    }

    @Test(
        "the password goes to no other origin, whether a form, a redirect or a base says so",
        arguments: [
            "https://evil.example/login", "//evil.example/login", "http://idp.example/login", "https://idp.example:444/login",
            "https://idp.example@evil.example/", "javascript:alert(1)", "https://tv.example/login",
        ])
    func keepsPassword(_ action: String) throws {
        var visit = try atMvpd()
        let page = #"<base href="https://evil.example/"><form method=post action="\#(action)"><input name=u><input type=password name=p></form>"#
        let failure = try failure(visit.next(after: TestSite.html(page)))
        #expect(failure.step == .page && failure.reason == "foreign_address", "\(failure)")
    }

    @Test("redirects and carriers lead to the origins of the catalogue, and to none else")
    func staysHome() throws {
        var visit = try atMvpd()
        #expect(try sent(visit.next(after: redirect("https://LOGIN.idp.example:8443/"))).url == "https://LOGIN.idp.example:8443/")
        let carrier = #"<form method=post action="https://idp.example/next"><input type=hidden name=a value=b></form>"#
        #expect(try sent(visit.next(after: TestSite.html(carrier))).url == "https://idp.example/next")
        for location in ["https://evil.example/", "http://169.254.169.254/latest", "http://127.0.0.1:7002/", "file:///etc/passwd", ""] {
            var here = visit
            let failure = try failure(here.next(after: redirect(location)))
            #expect(["foreign_address", "unusable"].contains(failure.reason), "\(failure)")
        }
    }

    @Test("a login that comes again is refused, in the MVPD's words without the test user's")
    func refused() throws {
        var visit = try atMvpd()
        _ = try sent(visit.next(after: TestSite.html(TestSite.login)))
        let again = #"<div role="alert"><b>Sorry, tess</b>: s3same is no password.</div>"# + TestSite.login
        let failure = try failure(visit.next(after: TestSite.html(again)))
        #expect(failure.step == .login && failure.reason == "login_refused")
        #expect(failure.explanation.contains("says 'Sorry, [hidden] : [hidden] is no password.'"), "\(failure.explanation)")
    }

    @Test(
        "pages that are no login are told by what they are",
        arguments: [
            ("<html><script>document.write('<form>')</script>", 200, "no_form"), ("", 204, "no_form"), ("{}", 404, "no_form"),
            ("<title>Oops</title>", 500, "status_500"), ("<form><input name=u><input type=password name=p></form>", 200, "unsafe_form"),
            ("<form action=/find><input name=q></form>", 200, "no_form"),
        ])
    func odd(_ body: String, _ status: Int, _ reason: String) throws {
        var visit = try atMvpd()
        let failure = try failure(visit.next(after: TestSite.html(body, status: status)))
        #expect(failure.step == .page && failure.reason == reason, "\(failure)")
    }

    @Test("an MVPD may ask for the user first, and the catalogue may name the fields")
    func twoPages() throws {
        var visit = try atMvpd()
        let first = try sent(visit.next(after: TestSite.html("<form method=post><input type=email name=id></form>")))
        #expect(first.url == "https://idp.example/sso?a=b" && TestSite.fields(first) == ["id": "tess"])
        let second = try sent(visit.next(after: TestSite.html("<form method=post action=pw><input type=password name=p></form>")))
        #expect(TestSite.fields(second) == ["p": "s3same"])
        var named = try atMvpd { ($0.userField, $0.passwordField) = ("account", "pin") }
        let form = "<form method=post><input name=account><input name=zip><input name=pin type=text><input type=password name=other></form>"
        #expect(TestSite.fields(try sent(named.next(after: TestSite.html(form)))) == ["account": "tess", "zip": "", "pin": "s3same", "other": ""])
    }

    @Test("what leads on and on ends, and cookies are bounded and stay where they came from")
    func ends() throws {
        var visit = try atMvpd()
        var cookies = (0..<100).map { (name: "Set-Cookie", value: "c\($0)=v; Path=/") }
        cookies.append(("Set-Cookie", "long=\(String(repeating: "x", count: 5000))"))
        let request = try sent(visit.next(after: OutboundAnswer(status: 302, headers: [("location", "/again")] + cookies)))
        let sentCookies = try #require(request.headers.first { $0.name == "cookie" }?.value)
        #expect(sentCookies.split(separator: ";").count == 32 && !sentCookies.contains("long"))
        #expect(try sent(visit.next(after: redirect("https://login.idp.example:8443/"))).headers.allSatisfy { $0.name != "cookie" })
        var last: TestVisit.Action?
        for round in 0..<TestVisit.mostRequests {
            last = visit.next(after: redirect("/\(round)"))
            if case .failed = last { break }
        }
        #expect(try failure(#require(last)).reason == "endless")
    }

    @Test("our own addresses that fail are told as ours", arguments: [(503, "status_503"), (404, "status_404"), (200, "status_200")])
    func ours(_ status: Int, _ reason: String) throws {
        var visit = visit()
        _ = visit.begin()
        let failure = try failure(visit.next(after: TestSite.html("<title>x</title>", status: status)))
        #expect(failure.step == .start && failure.reason == reason && failure.explanation.hasPrefix("The gateway"))
    }

    @Test(
        "hostile markup is read in one pass, and never beyond its bounds",
        arguments: [
            "<", "<form", "<form action='", "<input name=\"", "<!--", "&", "&#x", "<script>", "<title>", "<a ", "<form><input name=x ",
            "<p role=alert>",
        ])
    func hostile(_ piece: String) {
        let bytes = Array(String(repeating: piece, count: 300_000 / piece.utf8.count).utf8)
        let clock = ContinuousClock()
        let spent = clock.measure {
            let page = LoginPage(bytes)
            #expect(page.forms.count <= 16 && page.forms.allSatisfy { $0.fields.count <= 128 } && page.alert.count <= 200 && page.title.count <= 200)
        }
        #expect(spent < .seconds(20), "a debug build takes a second or two")
    }
}
