@testable import Simulation
import Foundation
import Testing
import TextEncodings

extension BridgeTests {
    @Test(
        "bridge B116: a mailed address of an upstream's login signs nobody in where sign-ins are confirmed; the browser that confirmed is signed in")
    func confirmsSignIns() async throws {
        let upstream = try await upstream()
        try await confirming(true)
        let outcome: Result<Void, any Error> = await Result { try await self.mailedAddress(upstream) }
        try await confirming(false)
        try outcome.get()
    }

    private func mailedAddress(_ upstream: StandInUpstream) async throws {
        let device = try await Device.make()
        var attacker = OAuthBrowser(device)
        let address = try #require(try await begin(&attacker, device))
        // The victim of a mail, in another browser.
        let back = try #require(try await upstream.signIn(at: address, as: "ada").header("location"))
        try #require(back.hasPrefix("\(device.cluster.gateway)/bridge/return/"), "\(back)")
        let victim = try await device.cluster.exchange.send("GET", back, headers: [("Accept", "text/html")])
        #expect(victim.status == 400 && victim.header("location") == nil && victim.text.contains("Start again"), "\(victim.status) \(victim.text)")
        #expect(try await attacker.load("GET", back).header("location") == device.end)
        #expect(try await device.checkAuthn() == 403)
        try await Condition.wait("upstream has heard of the logout") { try await upstream.count("logout") > 0 }
        // A person who confirms, and comes back in the same browser.
        var person = OAuthBrowser(device)
        var begun: String?
        try await Condition.wait("a sign-in begins again") {
            begun = try await begin(&person, device)
            return begun != nil
        }
        let login = try #require(begun)
        let own = try #require(try await upstream.signIn(at: login, as: "ben").header("location"))
        let end = try await person.load("GET", own)
        #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
        #expect(try await device.checkAuthn() == 200)
    }

    /// A person presses the button of our page.
    /// - Returns: The address of the upstream's login; `nil`: there is no such button, or it leads nowhere.
    private func begin(_ browser: inout OAuthBrowser, _ device: Device) async throws -> String? {
        let query = FormEncoding.encode(device.signInParameters(try await device.code(), mvpd: "CoastCable").map { ($0.key, $0.value) })
        let page = try await browser.load("GET", "\(device.cluster.gateway)/api/v1/authenticate?\(query)")
        guard let form = WebForm(html: page.text) else { return nil }
        return try await browser.load("POST", device.cluster.gateway + form.action, body: form.encoded).header("location")
    }

    private func confirming(_ isOn: Bool) async throws {
        let olga = try await Administrator.fresh()
        let answer = try await olga.change("/requestors/ACME1") { $0["confirmsSignIn"] = isOn }
        try #require(answer.status == 200, "\(answer.text)")
        try await MvpdTests.publish("confirmed sign-ins", olga)
    }
}

extension Result where Failure == any Error {
    /// As `init(catching:)`, which does not wait.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
