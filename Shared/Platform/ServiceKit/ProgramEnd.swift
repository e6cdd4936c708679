#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The end of a program whose threads still run.
public enum ProgramEnd {
    /// Ends the process once what was printed is out. `exit` would first take apart things that the other threads still use (tables of libraries, the
    /// runtime's own). Now and then one of them crashes there, and a back trace stands where one line was promised.
    /// - Parameter status: 0 to 255.
    public static func now(_ status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }
}
