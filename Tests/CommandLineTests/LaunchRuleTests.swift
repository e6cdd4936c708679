@testable import BoxofficeCommand
import Testing

@Suite struct LaunchRules {
    private func token(_ value: String?, _ authorization: String) -> SimulatedAppleAccount.Token {
        SimulatedAppleAccount.Token(value: value, authorization: authorization)
    }

    @Test("apple #66: only a value that the person has granted is used", arguments: ["denied", "notDetermined", "granted"])
    func granted(authorization: String) {
        #expect(LaunchRule().value(of: token("v", authorization)) == (authorization == "granted" ? "v" : nil))
        #expect(LaunchRule().value(of: token(nil, authorization)) == nil)
    }

    @Test("apple #67: after a sign-out by hand none is used until the person has signed in by hand")
    func signOut() {
        var rule = LaunchRule()
        rule.signedOut()
        #expect(rule.value(of: token("v", "granted")) == nil)
        rule.signedIn()
        #expect(rule.value(of: token("v", "granted")) == "v")
    }
}

@Suite struct DeviceOptions {
    @Test(arguments: [
        ["--opt-in"], ["--no-opt-in"], ["--sign-out-everywhere"], ["--bundle-id", "example.acme.tv"], ["--apple-account", ""],
    ])
    func whatBelongsToAnAppleAccountNeedsOne(arguments: [String]) {
        #expect(throws: (any Error).self) { try DeviceCommand.parse(arguments) }
    }

    @Test func anAppleAccountTakesThemAll() throws {
        _ = try DeviceCommand.parse(["--apple-account", "ada", "--no-opt-in", "--bundle-id", "example.acme.sports"])
        _ = try DeviceCommand.parse(["--apple-account", "ada", "--sign-out-everywhere", "--as", "ada"])
    }

    @Test func onlyAutosigninOfALocalClusterMayReachAStandInForApple() {
        #expect(ClusterService.allCases.filter { !$0.environment.isEmpty } == [.autosignin])
    }
}
