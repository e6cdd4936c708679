package import CommandKit
internal import Foundation
internal import TextEncodings

/// The programmer's page on a second screen, which takes a registration code to the provider's login (rest-v1 §4.2).
package struct SecondScreen: Sendable {
    let exchange: HTTPExchange
    let gateway: String
    let requestor: String

    package init(exchange: HTTPExchange, gateway: String, requestor: String) {
        self.exchange = exchange
        self.gateway = gateway
        self.requestor = requestor
    }

    /// A simulated person of the sandbox signs in with the code.
    /// - Throws: `CommandFailure` saying where it got stuck.
    package func signIn(_ code: String, at mvpd: String, as name: String) async throws {
        let end = "\(gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", requestor), ("mso_id", mvpd), ("domain_name", try await domain()), ("noflash", "true"),
            ("no_iframe", "true"), ("redirect_url", "\(end)?code=\(code)&requestor=\(requestor)"),
        ])
        var person = SimulatedPerson(exchange: exchange)
        _ = try await person.signIn(at: "\(gateway)/api/v1/authenticate?\(query)", name: name, password: name, until: end)
    }

    private func domain() async throws -> String {
        let answer = try await exchange.send("GET", "\(gateway)/api/v1/config/\(FormEncoding.encode(requestor)).json")
        let record = answer.object["requestor"] as? [String: Any]
        guard let domain = (record?["domains"] as? [[String: Any]])?.first?["name"] as? String else {
            throw CommandFailure("the requestor \(requestor) has no domain at \(gateway)", advice: "is it in the catalogue?")
        }
        return domain
    }
}
