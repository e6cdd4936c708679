@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

extension MvpdTests {
    @Suite("Logout that an app asks for")
    struct LogoutTests {
        /// Up to the redirect with the MVPD's answer, which is not followed.
        private func answer(_ person: inout SignedIn) async throws -> (url: String, relayState: String) {
            let device = person.device
            let start = try await device.get("/api/v1/logout", ["redirect_url": device.end])
            try #require(start.status == 302)
            let visit = try start.location()
            #expect(visit.hasPrefix("\(device.cluster.gateway)/adobe-services/logout?handle="))
            #expect(try await device.checkAuthn() == 403, "the session is gone before anybody visits the MVPD")
            let request = try await person.browser.visit(visit).location()
            let relay = try #require(URLComponents(string: request)?.queryItems?.first { $0.name == "RelayState" }?.value)
            #expect(request.contains("SigAlg="))
            return (try await person.browser.visit(request).location(), relay)
        }

        @Test("mvpd #81: a redirected round trip with RelayState ends at redirect_url, the session gone at both")
        func redirect() async throws {
            var person = try await signIn(try await Device.make())
            let (url, relay) = try await answer(&person)
            #expect(url.hasPrefix("\(person.device.cluster.gateway)/sp/saml/LogoutServiceHTTPRedirectResponse?SAMLResponse="))
            #expect(url.contains("RelayState=\(relay)&"))
            let entry = try await sandboxEntry("slo", "NorthCable")
            let fields = try #require(entry["fields"] as? [String: String])
            #expect(entry["outcome"] as? String == "logged-out" && fields["relayState"] == "present" && fields["indexes"] == "1")
            #expect(fields["reasonURI"] == "urn:oasis:names:tc:SAML:2.0:logout:user")
            #expect(fields["issuer"]?.hasSuffix("/on-behalf-of/ACME1") == true && fields["nameQualifier"]?.isEmpty == false)
            #expect(fields["format"] == "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent")
            let end = try await person.browser.visit(url)
            #expect(end.status == 302 && end.header("location") == person.device.end)
            #expect(try await person.browser.visit(url).status == 400, "an answer counts once")
            // The MVPD asks for a password again.
            let login = try await person.browser.openLogin(person.device, code: try await person.device.code())
            #expect(login.value("password") != nil)
        }

        @Test("mvpd #81: a posted round trip")
        func post() async throws {
            var person = try await signIn(try await Device.make(), at: "LakeTel")
            let device = person.device
            let visit = try await device.get("/api/v1/logout", ["redirect_url": device.end]).location()
            let request = try person.browser.form(try await person.browser.visit(visit), at: visit)
            #expect(request.form.action == "\(try sandbox())/saml/LakeTel/slo" && request.value("SAMLRequest") != nil)
            let answer = try await person.browser.submit(request)
            let page = try person.browser.form(answer, at: request.form.action)
            #expect(page.value("SAMLResponse") != nil && page.value("RelayState") == request.value("RelayState"))
            let end = try await person.browser.submit(page)
            #expect(end.status == 302 && end.header("location") == device.end)
            #expect(try await device.checkAuthn() == 403)
        }

        @Test("mvpd #82: a confused answer is refused, and the genuine one still counts")
        func confused() async throws {
            var person = try await signIn(try await Device.make())
            let (url, _) = try await answer(&person)
            let message = try #require(url.firstMatch(of: /SAMLResponse=[^&]+/)).0
            let confused = [
                "\(url)&\(message)", "\(url)&\(message.replacing("SAMLResponse", with: "SAMLRequest"))", "\(url)&SigAlg=x", "\(url)&RelayState=x",
                url.replacing("%2B", with: "%2b").replacing("%3D", with: "%3d").replacing("%2F", with: "%2f"),
                url.replacing("SAMLResponse=", with: "%53AMLResponse="), url.replacing(/&Signature=.*/, with: ""),
                url.replacing("rsa-sha256", with: "rsa-sha1"), url.replacing(/RelayState=[^&]+/, with: "RelayState=other"),
            ]
            for (index, address) in confused.enumerated() {
                #expect(address != url && !address.isEmpty, "\(index)")
                let refused = try await person.browser.visit(address)
                #expect((400...503).contains(refused.status) && refused.status != 500, "\(index): \(refused.status)")
                #expect(refused.header("location") == nil, "\(index)")
            }
            #expect(try await person.browser.visit(url).header("location") == person.device.end)
        }

        @Test("mvpd §2.7: an address without a message is 503, an unknown handle 400")
        func nothing() async throws {
            let cluster = try TestCluster.running()
            #expect(try await cluster.send(Call("GET", "/sp/saml/LogoutServiceHTTPRedirectResponse")).status == 503)
            #expect(try await cluster.send(.form("/sp/saml/LogoutServiceHTTPRedirectResponse", [])).status == 503)
            #expect(try await cluster.send(Call("GET", "/adobe-services/logout", query: ["handle": "unknown"])).status == 400)
            #expect(try await cluster.send(Call("GET", "/adobe-services/logout")).status == 400)
            #expect(try await cluster.send(Call("PUT", "/adobe-services/logout")).status == 405)
        }

        @Test("rest-v1 §3.20: a logout without requestor visits each MVPD once, one after the other")
        func severalProviders() async throws {
            let device = try await Device.make()
            let person = try await signIn(device)
            var browser = person.browser
            let other = device.at("ACME2")
            let second = try await browser.signIn(other, code: try await other.code(), mvpd: "LakeTel", name: "ben")
            try #require(second.status == 302)
            let call = device.call("/api/v1/logout", ["redirect_url": device.end]).with { $0.query["requestor"] = nil }
            var url = try await device.cluster.send(call).location()
            var visited: Set<String> = []
            for _ in 0..<12 where url != device.end {
                for mvpd in ["NorthCable", "LakeTel"] where url.contains("/saml/\(mvpd)/slo") { visited.insert(mvpd) }
                var answer = try await browser.visit(url)
                while answer.status == 200 {
                    let page = try browser.form(answer, at: url)
                    for mvpd in ["NorthCable", "LakeTel"] where page.form.action.contains("/saml/\(mvpd)/slo") { visited.insert(mvpd) }
                    answer = try await browser.submit(page)
                    url = page.form.action
                }
                url = try answer.location()
            }
            #expect(url == device.end && visited == ["NorthCable", "LakeTel"])
            #expect(try await device.checkAuthn() == 403)
            #expect(try await other.checkAuthn() == 403)
        }

        @Test("mvpd §2.7: an MVPD with a plain logout address")
        func plain() async throws {
            try await changing("NorthCable") { mvpd in
                var saml = try #require(mvpd["saml"] as? [String: Any])
                saml["logoutUrl"] = nil
                saml["plainLogout"] = ["url": "\(try sandbox())/saml/NorthCable/plain-logout", "returnParameter": "return"]
                mvpd["saml"] = saml
            } during: {
                var person = try await signIn(try await Device.make())
                let visit = try await person.device.get("/api/v1/logout", ["redirect_url": person.device.end]).location()
                let address = try await person.browser.visit(visit).location()
                #expect(address.hasPrefix("\(try sandbox())/saml/NorthCable/plain-logout?return="))
                #expect(try await person.browser.visit(address).header("location") == person.device.end)
            }
        }

        @Test("rest-v1 §3.20: without an address to go to, a web view ends at a page")
        func withoutAddress() async throws {
            var person = try await signIn(try await Device.make())
            let visit = try await person.device.get("/api/v1/logout").location()
            let answer = try await person.browser.visit(try await person.browser.visit(visit).location()).location()
            let end = try await person.browser.visit(answer)
            #expect(end.status == 200 && end.isHTML && end.text.contains("signed out"))
        }
    }

    @Suite("Logout that an MVPD asks for")
    struct ProviderLogoutTests {
        @Test("mvpd #83: an unsigned request changes nothing; a signed one ends the sessions and is answered")
        func redirect() async throws {
            var person = try await signIn(try await Device.make())
            let other = try await Device.make("ACME2")
            let second = try await person.browser.signInSilently(other)
            #expect(second.status == 302)
            #expect(try await other.checkAuthn() == 200)
            let url = try await person.browser.visit("\(try sandbox())/saml/NorthCable/logout").location()
            #expect(url.contains("LogoutServiceHTTPRedirectResponse?SAMLRequest="))
            let unsigned = url.replacing(/&SigAlg=.*/, with: "")
            #expect(try await person.browser.visit(unsigned).status == 400)
            #expect(try await person.device.checkAuthn() == 200)
            let answer = try await person.browser.visit(url)
            #expect(try await person.device.checkAuthn() == 403)
            #expect(try await other.checkAuthn() == 403, "the session of the same login at another channel ends too")
            let page = try await person.browser.visit(try answer.location())
            #expect(page.status == 200 && page.text.contains("Success"))
            #expect(try await person.browser.visit(url).status == 400, "a request counts once")
        }

        @Test("mvpd #83: the same by forms")
        func post() async throws {
            var person = try await signIn(try await Device.make(), at: "LakeTel")
            let address = "\(try sandbox())/saml/LakeTel/logout?binding=post"
            let page = try person.browser.form(try await person.browser.visit(address), at: address)
            #expect(page.value("SAMLRequest") != nil)
            var forged = page
            let xml = String(decoding: try #require(page.value("SAMLRequest").flatMap { Data(base64Encoded: $0) }), as: UTF8.self)
            forged.form.fill("SAMLRequest", Data(xml.replacing(/<ds:Signature.*<\/ds:Signature>/, with: "").utf8).base64EncodedString())
            #expect(try await person.browser.submit(forged).status == 400)
            #expect(try await person.device.checkAuthn() == 200)
            let answer = try await person.browser.submit(page)
            #expect(try await person.device.checkAuthn() == 403)
            let reply = try person.browser.form(answer, at: page.form.action)
            let end = try await person.browser.submit(reply)
            #expect(end.status == 200 && end.text.contains("Success"))
        }
    }
}

extension Browser {
    /// Signs another device in with the session that the browser has at the MVPD.
    mutating func signInSilently(_ device: Device, parameters: [String: String] = [:]) async throws -> HTTPAnswer {
        let fields = device.signInParameters(try await device.code()).merging(parameters) { $1 }
        let query = FormEncoding.encode(fields.map { ($0.key, $0.value) })
        let request = try await visit("\(device.cluster.gateway)/api/v1/authenticate?\(query)").location()
        guard request.contains("SAMLRequest") else { return try await visit("\(device.cluster.gateway)/healthz") }
        return try await submit(try form(try await visit(request), at: request))
    }
}
