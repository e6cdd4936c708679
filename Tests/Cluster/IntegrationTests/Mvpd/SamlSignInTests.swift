@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Cryptography
import Foundation
import Testing

extension MvpdTests {
    @Suite("Ways to sign in")
    struct SignInWayTests {
        @Test("mvpd #17: a passive attempt shows no page; it succeeds for a signed-in person, and is silent otherwise")
        func passive() async throws {
            try await changing("NorthCable") {
                $0["passiveAuthnEnabled"] = true
            } during: {
                let device = try await Device.make()
                var browser = Browser(exchange: device.cluster.exchange)
                let silent = try await browser.signInSilently(device, parameters: ["passive": "true"])
                #expect(silent.status == 302 && silent.header("location") == device.end)
                #expect(try await sandboxEntry("sso", "NorthCable")["outcome"] as? String == "NoPassive")
                #expect(try await device.checkAuthn() == 403)
                var person = try await signIn(device)
                let other = try await Device.make()
                let success = try await person.browser.signInSilently(other, parameters: ["passive": "true"])
                #expect(success.status == 302 && success.header("location") == other.end)
                #expect(try await other.checkAuthn() == 200)
            }
        }

        @Test("mvpd #17: an MVPD that cannot be asked passively is not asked at all")
        func passiveElsewhere() async throws {
            let device = try await Device.make()
            let answer = try await device.authenticate(try await device.code(), changing: ["passive": "true"])
            #expect(answer.status == 302 && answer.header("location") == device.end)
            #expect(try await device.checkAuthn() == 403)
        }

        @Test("mvpd #6: a forced login asks for the password although the MVPD knows the person")
        func forced() async throws {
            var person = try await signIn(try await Device.make())
            try await changing("NorthCable") { mvpd in
                var saml = try #require(mvpd["saml"] as? [String: Any])
                saml["forceAuthn"] = true
                mvpd["saml"] = saml
            } during: {
                let other = try await Device.make()
                let login = try await person.browser.openLogin(other, code: try await other.code())
                #expect(login.value("password") != nil)
                let answer = try await person.browser.submit(try await person.browser.answer(login, name: "ada"))
                #expect(answer.status == 302 && answer.header("location") == other.end)
            }
        }

        @Test("mvpd §2.4: at home no password is needed, and the session has the home-based lifetime")
        func homeBased() async throws {
            let control = "\(try sandbox())/control/home/NorthCable"
            let exchange = try TestCluster.running().exchange
            let headers = [("Content-Type", "application/json")]
            try await changing("NorthCable") { mvpd in
                mvpd["hbaAuthnTtl"] = 3600
                var saml = try #require(mvpd["saml"] as? [String: Any])
                let map = try #require(saml["attributeMap"] as? [[String: Any]])
                saml["attributeMap"] = map + [["source": "hba_status", "target": "hba_status", "type": "boolean"]]
                mvpd["saml"] = saml
            } during: {
                let home = #"{"addresses": ["127.0.0.1"], "person": "ada"}"#
                try #require(try await exchange.send("POST", control, headers: headers, body: home).status == 204)
                let device = try await Device.make()
                var browser = Browser(exchange: exchange)
                let answer = try await browser.signInSilently(device)
                try #require(try await exchange.send("POST", control, headers: headers, body: #"{"addresses": []}"#).status == 204)
                #expect(answer.status == 302 && answer.header("location") == device.end)
                let expires = try #require((try await device.authnToken().object["expires"] as? String).flatMap(Int64.init))
                let rest = expires - Int64(Date().timeIntervalSince1970 * 1000)
                #expect((3_000_000...3_600_000).contains(rest), "\(rest) ms")
            }
        }

        @Test("mvpd #5, #111: a proxied MVPD is asked through its proxy, by its providerId, and issues the answer itself")
        func proxied() async throws {
            let local = try await Administrator.fresh()
            let north = try #require(try await local.send("GET", "/mvpds/NorthCable").object["entity"] as? [String: Any])
            var tiny: [String: Any] = [
                "id": "TinyCable", "displayName": "Tiny Cable", "proxy": ["mvpd": "NorthCable", "providerId": "tiny-cable"],
                "authzTtl": 3600,
            ]
            tiny["authorization"] = north["authorization"]
            let created = try await local.send("POST", "/mvpds", tiny)
            try #require(created.status == 201, "\(created.text)")
            let integrated = try await local.send("POST", "/integrations", ["requestor": "ACME1", "mvpd": "TinyCable"])
            try #require(integrated.status == 201, "\(integrated.text)")
            try await publish("a proxied MVPD", local)
            let device = try await Device.make()
            var browser = Browser(exchange: device.cluster.exchange)
            let login = try await browser.openLogin(device, code: try await device.code(), mvpd: "TinyCable")
            #expect(login.answer.text.contains("Tiny Cable"), "the proxy shows who was asked for")
            let page = try await browser.answer(login, name: "ada")
            #expect(try ForgedAnswer.decoded(page).contains("<saml:Issuer>tiny-cable</saml:Issuer>"))
            let answer = try await browser.submit(page)
            #expect(answer.status == 302 && answer.header("location") == device.end, "\(answer.text)")
            #expect(try await device.authnToken().object["mvpd"] as? String == "TinyCable")
        }

        @Test("mvpd §1.2: a wrong record is refused when it is saved, with every reason")
        func wrongRecord() async throws {
            let local = try await Administrator.fresh()
            let now = SystemClock().now()
            func certificate(_ from: Duration, _ until: Duration) throws -> String {
                let validity = CertificateValidity(notBefore: now + from, notAfter: now + until)
                return try CertifiedKey.selfSigned(commonName: "idp", key: .rsa(.generate()), validity: validity).certificate.pem()
            }
            let expired = try certificate(.seconds(-1000), .seconds(-10))
            let early = try certificate(.seconds(1000), .seconds(90_000))
            let wrong = try await local.change("/mvpds/NorthCable") { mvpd in
                var saml = try #require(mvpd["saml"] as? [String: Any])
                saml["ssoUrl"] = "http://idp.example/sso"
                saml["idpEntityId"] = nil
                saml["logoutBinding"] = "carrier pigeon"
                saml["signatureAlgorithms"] = ["http://www.w3.org/2000/09/xmldsig#hmac-sha1"]
                mvpd["saml"] = saml
                mvpd["authzTtl"] = 1
                mvpd["proxy"] = ["mvpd": "Nobody"]
            }
            #expect(wrong.status == 422)
            let expected = [
                "saml.ssoUrl", "saml.idpEntityId", "saml.logoutBinding", "saml.signatureAlgorithms[0]", "authzTtl", "proxy.mvpd",
            ]
            #expect(Set(wrong.problemFields).isSuperset(of: expected), "\(wrong.text)")
            let dated = try await local.change("/mvpds/NorthCable") { mvpd in
                var saml = try #require(mvpd["saml"] as? [String: Any])
                saml["signingCertificates"] = try #require(saml["signingCertificates"] as? [Any]) + [expired, early]
                mvpd["saml"] = saml
            }
            #expect(dated.status == 422, "\(dated.text)")
            #expect(dated.problemFields == ["saml.signingCertificates[1]", "saml.signingCertificates[2]"], "\(dated.text)")
            #expect(try await local.changes().isEmpty)
        }
    }
}
