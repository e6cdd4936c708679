import ServiceKit
import Testing

@testable import ClusterCommands

@Suite struct VersionTests {
    @Test("a version names the contracts that its services answer to")
    func contracts() {
        let all = ["boxoffice.authentication.v1", "boxoffice.authorization.v1", "boxoffice.autosignin.v1", "boxoffice.config.v1"]
        #expect(VersionCommand.contracts == all)
        #expect(ServiceKit.SoftwareVersion.description.hasPrefix("\(ServiceKit.SoftwareVersion.current) ("))
    }
}
