"""Names of blocks in Simulink and Drake. `spart blocks`, the hints for unknown types and
docs/blocks.md read these names here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spart_blocks.base.errors import near_names

# A line is `names: types; remark`: types that do the same, the nearest one first. Where no type
# does, the remark says what takes its place.
_SIMULINK = """
Constant, Ground: CONSTANT; an optional input that no wire reaches is zeros anyhow
Step: STEP
Ramp: RAMP
Sine Wave, Signal Generator, Waveform Generator: WAVEFORM
Pulse Generator: PULSE WAVEFORM
Chirp Signal: CHIRP
Repeating Sequence: REPEATING
Repeating Sequence Stair, Repeating Sequence Interpolated: REPEATING; `previous` holds values
PN Sequence Generator: PRBS PRBS_S
Clock, Digital Clock: TIME; a sampling clock is an entry of `clocks:`
Random Number, Uniform Random Number: NOISE
Band-Limited White Noise: BAND_LIMITED_NOISE
From Workspace, From File, From Spreadsheet, Playback: DATA
Signal Builder, Signal Editor: PIECEWISE DATA
Scope, Floating Scope, Time Scope: SCOPE
XY Graph: SCOPEXY SCOPEXY1
Display: PRINT
Record: RECORD; or `run: {log: [plant.qm]}`
To Workspace: RECORD; `run: {log: [plant.qm]}` keeps signals too, for `results[...]`
To File: ; `spart run FILE --out run.npz`, or .csv or .mat, keeps what the run recorded
Terminator: NULL; an output needs no wire
Stop Simulation: STOP
Assertion: ASSERT; what a run must show stands under `expect:`
Integrator, Integrator Limited: INTEGRATOR RESET_INTEGRATOR; with an external reset the second
Second-Order Integrator, Second-Order Integrator Limited: SECOND_ORDER_INTEGRATOR
Derivative: DERIV DERIV2
Transfer Fcn: TRANSFER_FUNCTION LTI_SISO
Zero-Pole: ZERO_POLE
State-Space: STATE_SPACE LTI_SS
Analog Filter Design: LOW_PASS NOTCH; with its design: Bessel, Chebyshev, ...
Varying Lowpass Filter: LOW_PASS; its cut-off is a parameter
Notch Filter, Varying Notch Filter: NOTCH NOTCH_S
Lowpass Filter: LOW_PASS_S
Lead-Lag Filter: LEAD_LAG LEAD_LAG_S
PID Controller: PID JOINT_PID
PID Controller (2DOF): PID_2DOF JOINT_PID
Discrete PID Controller (2DOF): PID_2DOF_S JOINT_PID_S
Kalman Filter: KALMAN_S KALMAN; steady without P0
Extended Kalman Filter: EKF_S
MPC Controller, Adaptive MPC Controller, Explicit MPC Controller: MPC_S; of one linear plant
LQG Controller: LQG LQG_S
Unscented Kalman Filter: UKF_S
AHRS, Complementary Filter: MAHONY_FILTER COMPLEMENTARY_FILTER MEKF_S
Disturbance Observer, Extended State Observer: DISTURBANCE_OBSERVER DISTURBANCE_OBSERVER_S
State Observer: LUENBERGER LUENBERGER_S KALMAN
Transport Delay: TRANSPORT_DELAY
Variable Transport Delay, Variable Time Delay: VARIABLE_DELAY
Discrete-Time Integrator: INTEGRATOR_S
Discrete Derivative, Difference: DERIV_S; gain (u(k) - u(k-1)) / T, of vectors too
Discrete Transfer Fcn, Discrete Filter: TRANSFER_FUNCTION_S LTI_SISO_S; with method: none
Discrete FIR Filter: FIR
Biquad Filter, SOS Filter: IIR
Moving Average: MOVING_AVERAGE
Cumulative Minimum, MinMax Running Resettable: CUMULATIVE_MIN CUMULATIVE_MAX
Cumulative Maximum: CUMULATIVE_MAX
Sample and Hold: SAMPLE_HOLD
Counter, Counter Free-Running, Counter Limited: COUNTER
Transfer Fcn First Order: PT1_S
Transfer Fcn Lead or Lag: LEAD_LAG_S
Discrete Zero-Pole: ZERO_POLE_S; with method: none
Discrete State-Space: STATE_SPACE_S LTI_SS_S; with method: none
Discrete PID Controller: PID_S JOINT_PID_S
Unit Delay, Delay: UNIT_DELAY
Memory: UNIT_DELAY; on a clock: what a solver's last step saw depends on its steps
Zero-Order Hold, Rate Transition: ZOH UNIT_DELAY
Saturation: SATURATION CLIP EFFORT_LIMIT
Dead Zone: DEADZONE
First-Order Hold: FIRST_ORDER_HOLD
Idealized ADC Quantizer: ADC
Spectrum Analyzer: SPECTRUM; at given frequencies, while it runs
Quantizer: QUANTIZER
Rate Limiter: RATE_LIMITER RATE_LIMITER_S
Relay: RELAY
Backlash: BACKLASH BACKLASH_S
Hit Crossing: HIT_CROSSING
Detect Rise Positive, Detect Fall Negative, Detect Change: EDGE
Relational Operator, Compare To Constant, Compare To Zero: COMPARE
Coulomb & Viscous Friction: FRICTION_MASS; of a robot's joints: MULTIBODY, docs/joints.md
Translational Friction, Rotational Friction: FRICTION_MASS; with its mass or inertia
Translational Hard Stop, Rotational Hard Stop: FRICTION_MASS; its limits `lower` and `upper`
Disc Brake, Band Brake, Drum Brake: FRICTION_MASS; with `pressed`
Disc Friction Clutch, Fundamental Friction Clutch: CLUTCH; with the inertias on both sides
Logical Operator, AND, OR, NOT, XOR: LOGIC
Lookup Table, 1-D Lookup Table: LOOKUP INTERPOLATE
2-D Lookup Table: LOOKUP_2D
n-D Lookup Table: LOOKUP_ND
Sum, Add, Subtract: SUM
Gain, Slider Gain, Unary Minus: GAIN
Product, Divide, Matrix Multiply: PROD GAIN
Sum of Elements: ELEMENT_SUM
Product of Elements: ELEMENT_PRODUCT
Dot Product: DOT
Cross Product, 3x3 Cross Product: CROSS
Abs: ABS FCN
Sign: SIGN FCN
MinMax: MINMAX FCN
Fcn, Bias: FCN
Polynomial: POLYNOMIAL FCN
Math Function: MATH FCN POW
Sqrt, Signed Sqrt, Reciprocal Sqrt: MATH FCN
Trigonometric Function: TRIG FCN
Rounding Function: ROUND FCN
Unit Conversion, Angle Conversion, Length Conversion, Mass Conversion: UNIT_CONVERSION
MATLAB Function, Interpreted MATLAB Function: FCN; or a block of your own: docs/own_blocks.md
S-Function, MATLAB System: ; a block of your own in a Python file: docs/own_blocks.md
Reshape: RESHAPE FLATTEN
Matrix Transpose: TRANSPOSE
Matrix Inverse, Pseudoinverse: INVERSE
Determinant of 3x3 Matrix: DET
Vector Concatenate, Matrix Concatenate: CONCATENATE MUX
Mux: MUX; DICT makes a signal with named parts
Bus Creator: BUS_CREATOR
Demux: DEMUX
Bus Selector: BUS_SELECTOR; or a wire: bus.qm -> ctrl.qm
Selector: SELECTOR SLICE1 SLICE2 INDEX; a wire can take a slice: plant.qm[0:2] -> ctrl.qm
Switch: SWITCH
Manual Switch: MANUAL_SWITCH SWITCH; or `variants:`, chosen by --variant
Multiport Switch: MULTIPORT_SWITCH
Index Vector: MULTIPORT_SWITCH; after DEMUX
Goto: GOTO
From: FROM
Subsystem, Inport, Outport: ; `subsystems:` with `inputs:` and `outputs:`: docs/diagrams.md
Model, Model Reference: ; `use: part.yaml` takes a file with ports as a block: docs/diagrams.md
Variant Subsystem: ; `variants:` has a block's alternatives: docs/diagrams.md
FMU Import: FMU FMU_ME
PWM Generator: PULSE_WIDTH; at the ticks of a clock
IMU, Three-axis Inertial Measurement Unit: IMU GYRO ACCELEROMETER
Three-axis Gyroscope: GYRO
Three-axis Accelerometer: ACCELEROMETER
GPS: GNSS
Incremental Encoder: ENCODER
UDP Receive: UDP_IN
UDP Send: UDP_OUT
TCP/IP Receive: TCP_IN
TCP/IP Send: TCP_OUT
Serial Receive: SERIAL_IN
Serial Send: SERIAL_OUT
MQTT Subscribe: MQTT_IN
MQTT Publish: MQTT_OUT
Subscribe: ROS_IN
Publish: ROS_OUT
Joint Space Motion Model, 6DOF: MULTIBODY
Forward Dynamics: MULTIBODY_RATES FD FD_FIXED
Inverse Dynamics: INVERSE_DYNAMICS ID FLOATING_ID
Joint Space Mass Matrix: GIM
Velocity Product Torque: CIM
Gravity Torque: GRAVITY_COMPENSATION
Get Jacobian: JACOB
Get Transform: END_EFFECTOR
Inverse Kinematics: IK
Polynomial Trajectory: QUINTIC VIA_POINTS
Trapezoidal Velocity Profile Trajectory: TRAPEZOID
Transform Trajectory: CARTESIAN_QUINTIC
Quaternion Multiplication: QUAT_PRODUCT
Quaternion Conjugate, Quaternion Inverse: QUAT_CONJUGATE; the inverse is that of a unit quaternion
Quaternion Rotation: QUAT_ROTATE; from body to inertial axes, Simulink's is the other way
Quaternion Logarithm: QUAT_LOG; the rotation vector, twice the vector part of the logarithm
Quaternion Exponential: QUAT_EXP; of the rotation vector, twice the vector part of the argument
Quaternion Interpolation: SLERP
Rotation Angles to Direction Cosine Matrix: ANGLES321_R ANGLES123_R; R is from body to inertial axes
Quaternions to Direction Cosine Matrix: QUAT_R; R is from body to inertial axes
Direction Cosine Matrix to Quaternions: R_QUAT; R is from body to inertial axes
Spherical Harmonic Gravity Model: ZONAL_GRAVITY; zonal terms to J6
Zonal Harmonic Gravity Model: ZONAL_GRAVITY ORBITAL_GRAVITY
WGS84 Gravity Model: ZONAL_GRAVITY
International Geomagnetic Reference Field, World Magnetic Model: MAGNETIC_FIELD; IGRF-14
Planetary Ephemeris: SUN_VECTOR MOON_VECTOR; the Sun and the Moon, by series of low precision
COESA Atmosphere Model, NRLMSISE-00 Atmosphere Model: ATMOSPHERE; exponentials, or your table
ECI Position to LLA: ECI_ECEF ECEF_GEODETIC; one after the other
LLA to ECI Position: GEODETIC_ECEF ECEF_ECI; one after the other
ECEF Position to LLA: ECEF_GEODETIC
LLA to ECEF Position: GEODETIC_ECEF
Direction Cosine Matrix ECI to ECEF: EARTH_ROTATION; R is from ECEF to ECI
Direction Cosine Matrix ECEF to NED: ECEF_GEODETIC; R_ned is from NED to ECEF
Julian Date Conversion: JULIAN_DATE
Orbit Propagator, Kepler Orbit Propagator: ORBIT
Gravity Gradient Torque: GRAVITY_GRADIENT ORBITAL_GRAVITY
Spacecraft Dynamics: MULTIBODY ORBITAL_GRAVITY
Descriptor State-Space: ; FCN INTEGRATOR with the rates solved for
Entity Transport Delay: ; not here: there are no entities
First Order Hold: FIRST_ORDER_HOLD; LOOKUP of a table
Dead Zone Dynamic: FCN; max(u - upper, 0) + min(u - lower, 0)
Rate Limiter Dynamic: RATE_LIMITER; its rates are parameters
Saturation Dynamic: FCN; min(max(u, lower), upper)
Wrap To Zero: SWITCH; with CONSTANT 0
Enabled Delay: UNIT_DELAY; in a subsystem with `enabled:`: docs/conditional.md
Resettable Delay: UNIT_DELAY; in a subsystem with `reset:`: docs/conditional.md
Tapped Delay: UNIT_DELAY; one for each tap, and MUX
Variable Integer Delay: VARIABLE_DELAY; of whole periods
Bit Clear, Bit Set, Bit to Integer Converter: ; not here: signals are numbers; links pack bits
Bitwise Operator, Extract Bits: ; not here: signals are numbers; links pack bits
Integer to Bit Converter, Shift Arithmetic: ; not here: signals are numbers; links pack bits
Combinatorial Logic: LOGIC; or a table: LOOKUP
Interval Test, Interval Test Dynamic: COMPARE; two of them and LOGIC
Cosine, Sine: TRIG FCN
Direct Lookup Table (n-D): LOOKUP_ND INDEX
Interpolation Using Prelookup, Prelookup: LOOKUP_ND LOOKUP; it searches and interpolates in one
Lookup Table Dynamic: INTERPOLATE; its table is a parameter
Algebraic Constraint: ALGEBRAIC_CONSTRAINT; other loops are solved by run: {algebraic_loops: solve}
Assignment: MUX; of slices of the signal and the new entries
Complex to Magnitude-Angle, Complex to Real-Imag: ; not here: signals are real; MUX takes both parts
Magnitude-Angle to Complex, Real-Imag to Complex: ; not here: signals are real; MUX takes both parts
Find Nonzero Elements: ; not here: the size of a signal is fixed
Permute Dimensions: TRANSPOSE
Sine Wave Function: WAVEFORM FCN
Squeeze: FLATTEN RESHAPE
Weighted Sample Time Math, Weighted Sample Time: ; a clock's period is a parameter: `$T`
Diagonal Matrix, Identity Matrix: CONSTANT
Submatrix: SLICE2
Check Input Resolution: ASSERT; of a formula in FCN
Chart, Stateflow, State Transition Table: STATE_MACHINE STATE_MACHINE_S
Truth Table: STATE_MACHINE FCN
Atomic Subsystem: ; `subsystems:`; every block is evaluated as a unit
Enable, Enabled Subsystem: ; `enabled: {by: on}` in a subsystem: docs/conditional.md
Enabled and Triggered Subsystem: ; `enabled:` and `triggered:` in a subsystem: docs/conditional.md
Trigger, Triggered Subsystem: ; `triggered: {by: go}` in a subsystem: docs/conditional.md
Resettable Subsystem: ; `reset: {by: again}` in a subsystem: docs/conditional.md
If: IF; its outputs enable subsystems: docs/conditional.md
Switch Case: CASE; its outputs enable subsystems: docs/conditional.md
If Action Subsystem, Switch Case Action Subsystem: ; `enabled: {by: on}`: docs/conditional.md
For Each Subsystem: ; `for_each:` in the block of a subsystem: docs/diagrams.md
For Iterator Subsystem: ; `for_each:`, or a block of your own: docs/own_blocks.md
While Iterator Subsystem: ; blocks take vectors; or a block of your own: docs/own_blocks.md
Function-Call Subsystem: ; `triggered: {by: go}` in a subsystem: docs/conditional.md
Simulink Function: ; `subsystems:`, with a clock: docs/diagrams.md
Function Caller: ; `subsystems:`, with a clock: docs/diagrams.md
Unit System Configuration: ; units are SI
Variant Model, Manual Variant Source: ; `variants:`, chosen by --variant: docs/diagrams.md
Variant Sink, Variant Source: ; `variants:`, chosen by --variant: docs/diagrams.md
Bus to Vector: MUX; a wire: bus -> mux
Data Type Conversion: ROUND; signals are doubles
IC: STEP; a state's start is its parameter x0
Probe, Width: ; `spart test FILE` checks shapes; `sb.trace(FILE).signals` has them
Signal Conversion: ; a wire
Signal Specification: ; shapes are checked where a wire ends
Bus Assignment: BUS_ASSIGNMENT
Data Store Memory, Data Store Read: INTEGRATOR_S UNIT_DELAY; a state has one writer
Data Store Write: INTEGRATOR_S UNIT_DELAY; a state has one writer
Goto Tag Visibility: GOTO; with scope: global its tag is known everywhere
Merge: MERGE
Parameter Writer: ; `spart live` sets parameters of a loop that runs: docs/live.md
State Reader: ; a block's outputs; `run: {log: [states]}` keeps states
State Writer, Reset Function: RESET_INTEGRATOR HYBRID_SYSTEM; or `reset:` in a subsystem
Enumerated Constant: CONSTANT
C Caller, C Function: FMU FCN; or a block of your own: docs/own_blocks.md
Python Importer: ; a block of your own in a Python file: docs/own_blocks.md
Initialize Function, Terminate Function: ; `x0` of blocks; Python about `sb.simulate`
Transfer Fcn Real Zero: TRANSFER_FUNCTION_S
Detect Decrease, Detect Increase: COMPARE; of the signal with UNIT_DELAY of it
Detect Fall Nonpositive, Detect Rise Nonnegative: EDGE
Check Dynamic Gap, Check Static Gap: ASSERT; of a formula in FCN
Check Dynamic Lower Bound: ASSERT; of the difference of both signals
Check Dynamic Range: ASSERT; of both distances
Check Dynamic Upper Bound: ASSERT; of the difference of both signals
Check Static Lower Bound: CHECK_RANGE; with `lower`
Check Static Range: CHECK_RANGE
Check Static Upper Bound: CHECK_RANGE; with `upper`
Check Discrete Gradient: CHECK_RATE
Check Step Response Characteristics: CHECK_SETTLING; or a claim of `expect:`
"""
_DRAKE = """
Adder: SUM
Gain, MatrixGain: GAIN
ConstantVectorSource, ConstantValueSource: CONSTANT
Sine: WAVEFORM
RandomSource: NOISE
TrajectorySource: TRAJECTORY_FILE VIA_POINTS
Integrator: INTEGRATOR
DiscreteTimeIntegrator: INTEGRATOR_S
DiscreteDerivative, StateInterpolatorWithDiscreteDerivative: DERIV_S
DiscreteTimeDelay: UNIT_DELAY
FirstOrderLowPassFilter: PT1
TransferFunction: TRANSFER_FUNCTION LTI_SISO
LinearSystem: STATE_SPACE STATE_SPACE_S
SymbolicVectorSystem: FCN
Multiplexer: MUX
Demultiplexer: DEMUX
Selector: SELECTOR SLICE1 INDEX
PortSwitch: MULTIPORT_SWITCH SWITCH; or `variants:`, chosen by --variant
Saturation: SATURATION
ZeroOrderHold: ZOH
PassThrough: ; a wire goes to any number of inputs: plant.qm -> ctrl.qm, scope
LeafSystem: ; a block of your own in a Python file: docs/own_blocks.md
VectorLogSink, LogVectorOutput, SignalLogger: ; `run: {log: [plant.qm]}` keeps signals
MultibodyPlant: MULTIBODY CLOSED_CHAIN
PidController: PID JOINT_PID
InverseDynamics: INVERSE_DYNAMICS ID FLOATING_ID
InverseDynamicsController: COMPUTED_TORQUE
JointStiffnessController: JOINT_PD GRAVITY_COMPENSATION
LinearQuadraticRegulator: LQR
LuenbergerObserver: LUENBERGER
SteadyStateKalmanFilter: KALMAN
DifferentialInverseKinematicsIntegrator: IK RESOLVED_RATE
"""


@dataclass(frozen=True)
class OtherName:
    """A block's name in another tool: the types here that do the same, and a remark."""

    name: str
    tool: str
    types: tuple[str, ...]
    remark: str

    def __str__(self) -> str:
        return f"{self.name} ({self.tool})"

    @property
    def here(self) -> str:
        """The replacement, as text."""
        return "; ".join(filter(None, [" or ".join(self.types), self.remark]))


def _read(tool: str, table: str) -> Iterator[OtherName]:
    for line in table.strip().splitlines():
        names, _, rest = line.partition(": ")
        types, _, remark = rest.partition(";")
        for name in names.split(", "):
            yield OtherName(name, tool, tuple(types.split()), remark.strip())


_MODELICA = """
StateGraph, InitialStep, StepWithSignal, TransitionWithSignal: STATE_MACHINE
CriticalDamping, Butterworth, LowpassButterworth: LOW_PASS
FirstOrder, Filter: PT1 LOW_PASS
SecondOrder: PT2
LimIntegrator: INTEGRATOR
Der, Derivative: DERIV
PI, LimPID: PID_2DOF PID
StateSpace: STATE_SPACE
DeadZone: DEADZONE
Limiter, VariableLimiter: SATURATION; a limit that varies is FCN with clip
SlewRateLimiter: RATE_LIMITER
FixedDelay, PadeDelay: TRANSPORT_DELAY
VariableDelay: VARIABLE_DELAY
MassWithStopAndFriction: FRICTION_MASS; with exponent: 1
BearingFriction, Brake: FRICTION_MASS; a brake with `pressed`
Clutch: CLUTCH CLUTCH_TORQUE
Hysteresis: RELAY
InverseBlockConstraints: ALGEBRAIC_CONSTRAINT
Add, Add3, Feedback, MultiSum: SUM
Product, MultiProduct, Division: PROD
MatrixGain: GAIN
Sqrt, Exp, Log, Log10, Power: MATH
Sin, Cos, Tan, Asin, Acos, Atan, Atan2: TRIG
Min, Max, MinMax: MINMAX
Sign: SIGN
LinearDependency, RealExpression: FCN
UnitDelay: UNIT_DELAY
Sampler, ZeroOrderHold: ZOH
TriggeredSampler: SAMPLE_HOLD
TriggeredMax: CUMULATIVE_MAX
Greater, GreaterEqual, Less, LessEqual, GreaterThreshold, LessThreshold, ZeroCrossing: COMPARE
And, Or, Not, Nand, Nor, Xor: LOGIC
Edge, FallingEdge, Change: EDGE HIT_CROSSING
Timer, OnDelay: STATE_MACHINE; with `after`
LogicalSwitch: SWITCH
Extractor, ExtractSignal: SELECTOR
Replicator: GAIN; its K is a vector of ones
Multiplex2, Multiplex3: MUX CONCATENATE
DeMultiplex2, DeMultiplex3: DEMUX
ContinuousClock: TIME
Trapezoid, KinematicPTP: TRAPEZOID
ExpSine, ExpCosine, Cosine: WAVEFORM FCN
TimeTable, CombiTimeTable: DATA PIECEWISE
SawTooth: REPEATING WAVEFORM
CombiTable1Ds, CombiTable1Dv: LOOKUP
CombiTable2Ds, CombiTable2Dv: LOOKUP_2D
BandLimitedWhiteNoise, NormalNoise, UniformNoise: BAND_LIMITED_NOISE NOISE
World: MULTIBODY; gravity is a block, GRAVITY
"""
OTHER_NAMES = (
    *_read("Simulink", _SIMULINK),
    *_read("Drake", _DRAKE),
    *_read("Modelica", _MODELICA),
)


def _bare(name: str) -> str:
    """A name reduced to letters and digits, so that Zero-Order Hold and ZeroOrderHold are equal."""
    return re.sub(r"[\W_]+", "", name).casefold()


def names_elsewhere(kind: str) -> list[OtherName]:
    """The names of a block type in other tools."""
    return [other for other in OTHER_NAMES if kind in other.types]


def other_names_like(text: str) -> list[OtherName]:
    """The names in other tools that equal a text, or, if there are none, that contain it."""
    bare = _bare(text)
    exact = [other for other in OTHER_NAMES if _bare(other.name) == bare]
    return exact or [other for other in OTHER_NAMES if bare and bare in _bare(other.name)]


def type_hint(name: str, known: Iterable[str]) -> str | None:
    """A suggestion for an unknown type: a similar type, or the type with this name in another
    tool.
    """
    choices = list(known)
    bare = _bare(name)
    same = next((choice for choice in choices if _bare(choice) == bare), None)
    if same is not None:
        return f"did you mean {same!r}?"
    here = next((other for other in OTHER_NAMES if _bare(other.name) == bare), None)
    if here is not None:
        return f"what {here.tool} calls {here.name} is here {here.here}"
    for spelled in (name, name.upper()):
        near = near_names(spelled, choices)
        if near:
            return near
    found = difflib.get_close_matches(bare, [_bare(o.name) for o in OTHER_NAMES], n=1, cutoff=0.75)
    return type_hint(found[0], choices) if found else None
