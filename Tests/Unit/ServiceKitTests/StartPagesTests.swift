import Testing

@testable import ServiceKit

@Suite("Pages of the start")
struct StartPagesTests {
    @Test("only code and constants of programs and libraries that were never written are dropped")
    func choosesMappings() {
        let smaps = """
            1000-3000 r--p 00000000 08:01 11 /opt/boxoffice/config
            Rss:                   8 kB
            Anonymous:             0 kB
            3000-9000 r-xp 00002000 08:01 11 /opt/boxoffice/config
            Rss:                  16 kB
            Private_Dirty:         0 kB
            Anonymous:             0 kB
            9000-a000 rw-p 00008000 08:01 11 /opt/boxoffice/config
            Rss:                   4 kB
            Anonymous:             4 kB
            a000-b000 r--p 00009000 08:01 11 /opt/boxoffice/config
            Rss:                   4 kB
            Anonymous:             4 kB
            b000-d000 r-xp 00000000 08:01 12 /usr/lib/libpatched.so
            Rss:                   8 kB
            Anonymous:             4 kB
            d000-e000 r--p 00000000 08:01 13 /etc/ld.so.cache
            Rss:                   4 kB
            Anonymous:             0 kB
            e000-f000 r-xp 00000000 00:00 0 [vdso]
            Rss:                   4 kB
            Anonymous:             0 kB
            f000-ff00 r-xp 00000000 00:00 0
            Rss:                   4 kB
            Anonymous:             0 kB
            """
        #expect(
            StartPages.mappings(smaps) == [
                StartPages.Mapping(range: 0x1000..<0x3000, residentBytes: 8 * 1024),
                StartPages.Mapping(range: 0x3000..<0x9000, residentBytes: 16 * 1024),
            ])
    }

    @Test("all mappings are read, to the last one")
    func readsAll() {
        let smaps = StartPages.allMappings()
        #expect(smaps.utf8.count > 16_384)
        #expect(smaps.contains("[stack]"))
        #expect(smaps.hasSuffix("\n"))
        // The pages of a library, which comes after the program itself.
        let libc = smaps.split(separator: "\n").first { $0.contains(" r-xp ") && $0.contains("/libc.so") }
        let from = libc.flatMap { UInt($0.prefix { $0 != "-" }, radix: 16) }
        #expect(StartPages.mappings(smaps).contains { $0.range.lowerBound == from })
    }

    @Test("the program goes on after its code was dropped")
    func goesOn() {
        #expect(StartPages.release() > 100_000)
        #expect((1...100).map(String.init).joined().count == 192)
        #expect(StartPages.release() > 0)
    }
}
