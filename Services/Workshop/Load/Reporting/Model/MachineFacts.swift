/// The tool ran here.
public struct MachineFacts: Codable, Sendable, Equatable {
    public var processor: String
    public var cores: Int
    public var memoryBytes: UInt64
    /// Kernel and distribution.
    public var system: String
    /// `release` or `debug`: figures of a debug build are no figures.
    public var build: String

    public init(processor: String, cores: Int, memoryBytes: UInt64, system: String, build: String) {
        self.processor = processor
        self.cores = cores
        self.memoryBytes = memoryBytes
        self.system = system
        self.build = build
    }
}
