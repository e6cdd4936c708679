@testable import ClusterCommands
import Foundation
import Testing

@Suite("What the doctor says of the live catalogue")
struct DoctorCatalogueTests {
    private func findings(_ mvpds: String, _ requestors: String = "[]") throws -> [Finding] {
        func list(_ text: String) throws -> [[String: Any]] {
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
        }
        return Doctor.findings(mvpds: try list(mvpds), requestors: try list(requestors))
    }

    @Test("MVPDs whose logout sends browsers straight to apps are named, those without a logout are not")
    func logouts() throws {
        let found = try findings(
            """
            [{"id": "Before", "oauth": {"logoutUrl": "https://a.example/logout"}}, {"id": "App", "oauth": {"logoutUrl": "https://b.example/l", "logoutReturn": "app"}},
             {"id": "Own", "oauth": {"logoutUrl": "https://c.example/logout", "logoutReturn": "own"}}, {"id": "None", "oauth": {}},
             {"id": "Saml", "saml": {"logoutUrl": "https://d.example/slo"}}]
            """)
        #expect(found.count == 1 && found[0].verdict == .note && found[0].what.contains("straight to apps: Before, App;"), "\(found)")
        #expect(found.first?.advice?.contains("oauth.logoutReturn 'own'") == true)
    }

    @Test("MVPDs that share a callback, and requestors whose sign-ins at upstreams are not confirmed, are named")
    func others() throws {
        let found = try findings(
            #"[{"id": "Shared", "oauth": {"callback": "shared"}}, {"id": "Own", "oauth": {"callback": "own"}}]"#,
            """
            [{"id": "OPEN", "confirmsSignIn": true, "upstream": {"id": "u"}}, {"id": "SAFE", "confirmsSignIn": true, "upstream": {"returnOrigin": "https://s.example"}},
             {"id": "LONE", "confirmsSignIn": true}]
            """)
        #expect(found.count == 2 && found[0].what.contains("callback: Shared;") && found[1].what.hasSuffix(": OPEN"), "\(found)")
        #expect(try findings("[]").isEmpty)
    }
}
