@testable import CommandKit
@testable import Simulation
import Testing

@Suite struct DeviceOptionTests {
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

    @Test(arguments: [
        ["--api", "v3"], ["--flow", "a"], ["--api", "v2", "--flow", "m"], ["--api", "v2", "--count", "2"], ["--service-token", "x"],
        ["--api", "v2", "status"],
    ])
    func flowsBelongToRestV2(arguments: [String]) {
        #expect(throws: (any Error).self) { try DeviceCommand.parse(arguments) }
    }

    @Test func everyFlowHasALetter() throws {
        for flow in V2Flow.allCases { _ = try DeviceCommand.parse(["--api", "v2", "--flow", flow.name, "--as", "ada"]) }
        _ = try DeviceCommand.parse(["--api", "v2", "--flow", "all", "--platform-token", "t"])
    }

    @Test func onlyAutosigninOfALocalClusterMayReachAStandInForApple() {
        #expect(ClusterService.allCases.filter { !$0.environment.isEmpty } == [.autosignin])
    }
}
