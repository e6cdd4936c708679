@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Foundation
import Testing

extension AdministrationApiTests {
    /// Sign-ins by a draft, before it is pushed.
    @Suite("Test sign-ins") struct TestSignInTests {
        private func begin(_ administrator: Administrator, _ mvpd: String, requestor: String = "ACME1") async throws -> [String: Any] {
            let answer = try await administrator.send("POST", "/draft/test-sign-ins", ["requestor": requestor, "mvpd": mvpd])
            try #require(answer.status == 201, "\(answer.text)")
            return answer.object
        }

        /// Somebody signs in with the test's address.
        private func visit(_ test: [String: Any], _ cluster: TestCluster) async throws {
            var person = SimulatedPerson(exchange: cluster.exchange)
            try await person.signIn(at: try #require(test["address"] as? String), name: "ada", password: "ada")
        }

        private func report(_ test: [String: Any], _ administrator: Administrator) async throws -> [String: Any] {
            let id = try #require(test["id"] as? String)
            let answer = try await administrator.send("GET", "/sign-ins/\(id)")
            try #require(answer.status == 200, "\(answer.text)")
            return answer.object
        }

        @Test("dashboard §7: what is only in the draft is tried, by SAML and by OAuth; what is wrong is named, and nothing of it is live")
        func triesTheDraft() async throws {
            let device = try await Device.make()
            let olga = try await Administrator.fresh()
            for mvpd in ["NorthCable", "OpenFiber"] {
                _ = try await olga.change("/mvpds/\(mvpd)") { $0["displayName"] = "Tried" }
                let test = try await begin(olga, mvpd)
                #expect(test["draftEtag"] is String)
                try await visit(test, device.cluster)
                let report = try await report(test, olga)
                #expect(report["result"] as? String == "signedIn" && report["test"] as? Bool == true, "\(report)")
            }
            _ = try await olga.change("/mvpds/NorthCable") { entry in
                var saml = entry["saml"] as? [String: Any] ?? [:]
                saml["idpEntityId"] = "https://somebody.else.example"
                entry["saml"] = saml
            }
            let wrong = try await begin(olga, "NorthCable")
            try await visit(wrong, device.cluster)
            let failed = try await report(wrong, olga)
            #expect(failed["result"] as? String == "rejected" && failed["reason"] as? String == "issuer", "\(failed)")
            _ = try await device.signIn()
            #expect(try await device.checkAuthn() == 200)
            #expect(
                try await olga.audit().contains { ($0["text"] as? String)?.hasPrefix("Test sign-in for ACME1 at NorthCable, by the draft") == true })
            _ = try await Administrator.fresh()
        }

        @Test("its address is good once, and a viewer who has no right to it gets nothing by it")
        func isGoodOnce() async throws {
            let edith = try await Administrator.fresh("edith")
            let test = try await begin(edith, "NorthCable")
            #expect(test["draftEtag"] is NSNull)
            let address = try #require(test["address"] as? String)
            let opened = try await edith.cluster.exchange.send("GET", address)
            #expect(opened.status == 302 && opened.header("set-cookie")?.contains("signin") == true)
            #expect(try await edith.cluster.exchange.send("GET", address).status == 404)
            #expect(try await edith.send("POST", "/draft/test-sign-ins", ["requestor": "BRAVO", "mvpd": "NorthCable"]).status == 404)
            let vera = try Administrator.named("vera")
            #expect(try await vera.send("POST", "/draft/test-sign-ins", ["requestor": "ACME1", "mvpd": "NorthCable"]).status == 403)
            #expect(try await edith.send("POST", "/draft/test-sign-ins", ["requestor": "ACME1", "mvpd": "Preview10"]).status == 422)
        }

        @Test("'mvpd test --draft' prints each check, and its exit code says whether all passed")
        func fitsTheHand() async throws {
            let cluster = try TestCluster.running()
            _ = try await Administrator.fresh()
            let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
            let arguments = ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "mvpd", "test", "NorthCable", "--draft", "--as"]
            let good = try Program.run("/usr/bin/env", arguments + ["ada"])
            #expect(good.status == 0 && good.output.contains("signedIn") || good.output.contains("signed in"), "\(good.output)")
            let json = try Program.run("/usr/bin/env", arguments + ["ada", "--json"])
            #expect(json.status == 0 && json.output.contains(#""result""#), "\(json.output)")
        }
    }
}
