@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Foundation
import Testing
import TextEncodings

extension RestV1Tests {
    @Suite("Login")
    struct LoginTests {
        @Test("rest-v1 #39: a live code leads to the MVPD, a completed login to a session")
        func login() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            let start = try await device.authenticate(code)
            let (cluster, places) = (device.cluster, device.cluster.standIns)
            let first = cluster.isBridge ? "\(places.gateway)/api/v2/authenticate/ACME1/" : "\(places.sandbox)/saml/NorthCable/sso?"
            #expect(start.status == 302 && start.header("location")?.hasPrefix(first) == true, "\(start.header("location") ?? "")")
            #expect(try await device.checkAuthn(code: code) == 403)
            try await device.signIn(code: code)
            #expect(try await device.checkAuthn(code: code) == 200)
            #expect(try await device.checkAuthn() == 200)
        }

        @Test("rest-v1 #40: a code of another requestor starts no login")
        func foreignCode() async throws {
            let device = try await Device.make()
            #expect(try await device.at("ACME2").authenticate(try await device.code()).status == 400)
        }

        @Test("rest-v1 #41: a domain that is not registered starts no login")
        func foreignDomain() async throws {
            let device = try await Device.make()
            #expect(try await device.authenticate(try await device.code(), changing: ["domain_name": "foreign.example"]).status == 400)
        }

        @Test(
            "rest-v1 #42, mvpd #80: a redirect_url elsewhere is not followed",
            arguments: ["https://foreign.example/", "https://acme.example.foreign.example/", "javascript:alert(1)", "//foreign.example"])
        func foreignRedirect(_ url: String) async throws {
            let device = try await Device.make()
            let answer = try await device.authenticate(try await device.code(), changing: ["redirect_url": url])
            #expect(answer.status == 400 && answer.header("location") == nil)
        }

        @Test("rest-v1 #43: reg_code may come first; mangled into another name it is missing")
        func orderOfParameters() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            let rest = "mso_id=NorthCable&domain_name=acme.example&noflash=true&redirect_url=\(FormEncoding.encode(device.end))"
            let base = device.cluster.gateway + "/api/v1/authenticate?"
            let exchange = device.cluster.exchange
            #expect(try await exchange.send("GET", base + "reg_code=\(code)&requestor_id=ACME1&" + rest).status == 302)
            #expect(try await exchange.send("GET", base + "requestor_id=ACME1%C2%AE_code=\(code)&" + rest).status == 400)
        }

        @Test("rest-v1 #44, mvpd #18: a person who cancels goes back without a session")
        func cancelled() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            var browser = Browser(exchange: device.cluster.exchange)
            let answer = try await browser.signIn(device, code: code, cancel: true)
            #expect(answer.status == 302 && answer.header("location") == device.end)
            #expect(try await device.checkAuthn(code: code) == 403)
            #expect(try await device.checkAuthn() == 403)
        }

        @Test("rest-v1 #45: an assertion for an unknown request gives no session")
        func unknownRequest() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            var browser = Browser(exchange: device.cluster.exchange)
            var page = try await browser.messagePage(device, code: code)
            var forged = try ForgedAnswer(insteadOf: page)
            forged.answer(request: "_0123456789abcdef")
            page.form.fill("SAMLResponse", try forged.encoded())
            #expect(try await browser.submit(page).status == 400)
            #expect(try await device.checkAuthn(code: code) == 403)
        }

        @Test("rest-v1 #46, mvpd #110: the assertion consumer without a message is unavailable, and no sign-in ended")
        func noMessage() async throws {
            let cluster = try TestCluster.running()
            let before = try await endedSignIns(cluster)
            for call in [Call("GET", Self.consumer), .form(Self.consumer, []), .form(Self.consumer, [("RelayState", "x")])] {
                let answer = try await cluster.send(call)
                #expect(answer.status == 503, "\(call.method)")
            }
            #expect(try await endedSignIns(cluster) == before)
        }

        @Test(
            "rest-v1 #101: an address of the application's own platform ends a sign-in, an unknown scheme does not",
            arguments: [("adobepass://ios.app", 302), ("adobepass://example.acme", 302), ("adobepass://example.foreign", 400), ("other://app", 400)])
        func applicationAddress(_ url: String, _ status: Int) async throws {
            let device = try await Device.make()
            #expect(try await device.authenticate(try await device.code(), changing: ["redirect_url": url]).status == status)
        }

        @Test("rest-v1 #102: a code is good for one login; a failed one does not count")
        func reusedCode() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            var browser = Browser(exchange: device.cluster.exchange)
            _ = try await browser.signIn(device, code: code, cancel: true)
            #expect(try await device.authenticate(code).status == 302)
            try await device.signIn(code: code)
            #expect(try await device.authenticate(code).status == 400)
        }

        @Test("rest-v1 #103: an assertion with a broken signature is refused with a page")
        func brokenSignature() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            var browser = Browser(exchange: device.cluster.exchange)
            var page = try await browser.messagePage(device, code: code)
            let genuine = try ForgedAnswer.decoded(page)
            let altered = genuine.replacing(/(<saml:NameID[^>]*>)[^<]+/) { "\($0.1)someone-else" }
            try #require(altered != genuine)
            page.form.fill("SAMLResponse", Data(altered.utf8).base64EncodedString())
            let answer = try await browser.submit(page)
            #expect(answer.status == 400 && answer.isHTML)
            #expect(try await device.checkAuthn(code: code) == 403)
        }

        @Test("rest-v1 #114: the assertion consumer does not throttle")
        func manyMessages() async throws {
            let cluster = try TestCluster.running()
            let call = Call.form(Self.consumer, [("SAMLResponse", "bm9uc2Vuc2U="), ("RelayState", "x")])
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await cluster.send(call).status } }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(statuses == [400])
        }

        @Test("mvpd #71: the same answer twice makes one session", arguments: [false, true])
        func replayed(_ concurrently: Bool) async throws {
            let device = try await Device.make()
            var browser = Browser(exchange: device.cluster.exchange)
            let page = try await browser.messagePage(device, code: try await device.code())
            var (first, second) = (browser, browser)
            let answers: [HTTPAnswer]
            if concurrently {
                async let one = first.submit(page)
                async let other = second.submit(page)
                answers = [try await one, try await other]
            } else {
                answers = [try await first.submit(page), try await second.submit(page)]
            }
            #expect(answers.map(\.status).sorted() == [302, 400])
            for answer in answers where answer.status == 302 { _ = try await browser.back(answer, to: device) }
            #expect(try await device.checkAuthn() == 200)
        }

        @Test("mvpd #73: the answer is good in the browser that asked")
        func otherBrowser() async throws {
            let device = try await Device.make()
            var browser = Browser(exchange: device.cluster.exchange)
            let page = try await browser.messagePage(device, code: try await device.code())
            var stranger = Browser(exchange: device.cluster.exchange)
            _ = try await stranger.openLogin(device, code: try await device.code())
            #expect(try await stranger.submit(page).status == 400)
            #expect(try await device.checkAuthn() == 403)
            // Through a bridge a second login of the device has ended the first one at upstream (NP6).
            #expect(try await browser.submit(page).status == (device.cluster.isBridge ? 400 : 302))
        }

        @Test("mvpd #74: the RelayState of another sign-in does not fit, though both are this browser's")
        func otherRelayState() async throws {
            let (device, other) = (try await Device.make(), try await Device.make())
            var browser = Browser(exchange: device.cluster.exchange)
            let login = try await browser.openLogin(device, code: try await device.code())
            let otherLogin = try await browser.openLogin(other, code: try await other.code())
            let genuine = try await browser.answer(login, name: "ada")
            let otherAnswer = try await browser.answer(otherLogin, name: "ada")
            var page = genuine
            page.form.fill("RelayState", try #require(otherAnswer.value("RelayState")))
            #expect(try await browser.submit(page).status == 400)
            for device in [device, other] { #expect(try await device.checkAuthn() == 403) }
            #expect(try await browser.submit(genuine).status == 302)
        }

        @Test("LakeTel signs in by the POST binding with an encrypted assertion")
        func encryptedAssertion() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            var browser = Browser(exchange: device.cluster.exchange)
            var handover = try await device.authenticate(code, mvpd: "LakeTel")
            // Through a bridge it is the other cluster that hands over.
            if device.cluster.isBridge { handover = try await browser.visit(try handover.location()) }
            let form = try #require(WebForm(html: handover.text), "\(handover.status) \(handover.text)")
            #expect(form.method == "post" && form.fields.contains { $0.name == "SAMLRequest" })
            let login = try await browser.openLogin(device, code: code, mvpd: "LakeTel")
            let page = try await browser.answer(login, name: "ada")
            let message = try ForgedAnswer.decoded(page)
            #expect(message.contains("EncryptedAssertion") && !message.contains("NameID"))
            let end = try await browser.back(try await browser.submit(page), to: device)
            #expect(end.header("location") == device.end, "\(end.status) \(end.text)")
            #expect(try await device.authnToken().object["mvpd"] as? String == "LakeTel")
            #expect(try await device.authorize("ACME1-NEWS").status == 200)
        }

        @Test("a person whose login fails stays at the MVPD, without a session")
        func failingPerson() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            var browser = Browser(exchange: device.cluster.exchange)
            let login = try await browser.openLogin(device, code: code)
            let again = try await browser.answer(login, name: "eve")
            #expect(again.answer.status == 422 && again.value("password") != nil)
            #expect(try await device.checkAuthn(code: code) == 403)
        }

        private static let consumer = "/sp/saml/SAMLAssertionConsumer"

        /// The counters of ended sign-ins, as the service writes them.
        private func endedSignIns(_ cluster: TestCluster) async throws -> [String] {
            let address = ClusterAddresses(ports: cluster.ports)
            let port = cluster.ports.debug(.authentication)
            let answer = try await cluster.exchange.send("GET", "http://127.0.0.1:\(port)/metrics")
            try #require(answer.status == 200, "\(address.main(.authentication))")
            return answer.text.split(separator: "\n").filter { $0.hasPrefix("boxoffice_authentication_sign_ins_ended_total") }.map(String.init)
                .sorted()
        }
    }
}
