@testable import ServiceKit
import Testing

@Suite struct ProcessorShareTests {
    @Test(arguments: [
        ("Name:\tgateway\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n", 2), ("Cpus_allowed:\tff,00000001\nMems_allowed:\t1\n", 9),
        ("Cpus_allowed:\t1\n", 1),
    ])
    func theMaskIsCounted(status: String, count: Int) { #expect(ProcessorShare.processors(status: status) == count) }

    @Test(arguments: ["", "Name:\tgateway\n", "Cpus_allowed_list:\t0-1\n", "Cpus_allowed:\t\n", "Cpus_allowed:\t0\n"])
    func whatSaysNothingLimitsNothing(status: String) { #expect(ProcessorShare.processors(status: status) == nil) }

    @Test func thisProgramMayUseAtLeastOne() { #expect(ProcessorShare.count >= 1) }
}
